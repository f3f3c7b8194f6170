#!/usr/bin/env bash
# lifecycle.sh [ROUNDS]: hosts come and go, two state folders side by side, and nothing stays behind.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rounds=${1:-1}
own_states 2
export LAB_ACCEL=${LAB_ACCEL:-tcg}   # kvm.sh looks after the choice
in_state() { LAB_STATE=$temp/$1 "$lab" "${@:2}"; }
# Processes whose folder is inside ours: what each host's QEMU is.
processes() {
  local cwd
  for cwd in /proc/[0-9]*/cwd; do
    if [[ $(readlink "$cwd" 2>/dev/null) == "$temp"/* && -e ${cwd%/cwd}/exe ]]; then echo "$cwd"; fi
  done
}

for ((round = 1; round <= rounds; ++round)); do
  in_state 1 up & first=$!
  in_state 2 up & second=$!
  holds "round $round: the first pair comes up" wait $first
  holds "round $round: the second pair comes up beside it" wait $second
  check "four hosts run" 4 "$(processes | wc -l)"
  for state in 1 2; do
    check "pair $state: the hosts reach each other" 0 \
      "$(in_state $state exec client -- busybox ping -c 3 -W 5 server >"$temp/ping" 2>&1; echo $?)"
  done
  in_state 1 down
  check "the other pair is undisturbed" 2 "$(processes | wc -l)"
  in_state 2 down
  check "no process is left" "" "$(processes)"
  check "no socket is left" "" "$(find "$temp" -type s)"
  check "no mount is left" "" "$(grep -F "$temp" /proc/mounts)"
done
holds "down with nothing running is fine" in_state 1 down

# Two calls at once start a host once.
in_state 1 up server & first=$!
in_state 1 up server & second=$!
holds "two calls at once: the one" wait $first
holds "two calls at once: the other" wait $second
check "one host runs" 1 "$(processes | wc -l)"
check "a host alone has an active port" "4: ACTIVE" \
  "$(in_state 1 exec server -- cat /sys/class/infiniband/rxe0/ports/1/state)"

# A host that died is noticed, and a command starts it again.
pid=$(pid_of "$temp/1" server)
kill -KILL "$pid"
holds "killed" within 5 fails alive "$pid"
check "after its death a command starts it again" again "$(in_state 1 exec server -- echo again)"

# A start that was broken off: the next one recovers, and there is one host.
in_state 1 down
LAB_STATE=$temp/1 setsid "$lab" up server 2>/dev/null & first=$!
within 10 test -s "$temp/1/testbed/server/console.log" || sleep 2
kill -KILL $first
wait $first 2>/dev/null || true
holds "up after a killed up" in_state 1 up server
check "one host runs after that" 1 "$(processes | wc -l)"
in_state 1 down

# The number in the file belongs to a stranger: it is neither believed nor killed.
sleep 1000 & stranger=$!
echo $stranger >"$temp/1/testbed/server/pid"
echo 1 >"$temp/1/testbed/server/port"
check "a stranger's pid is not believed" "server: down" "$(in_state 1 status | grep ^server)"
in_state 1 down
holds "and not killed" alive $stranger
kill $stranger
exit $failed
