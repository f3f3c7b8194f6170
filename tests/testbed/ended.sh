#!/usr/bin/env bash
# The end of ./lab run alone, not of its group, ends both sides; lost keys and settings that make no sense are noticed.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

own_states 1
export LAB_STATE=$temp/1
"$lab" up
program=11-rc-ping-pong
# shellcheck disable=SC2317 # within calls it
runs() { "$lab" exec "$1" -- sh -c "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q '[1]${program#1} '"; }
for how in INT TERM; do
  setsid env --default-signal=INT "$lab" pingpong -n 10000000 >/dev/null 2>&1 &
  run=$!
  for host in server client; do holds "$host runs it ($how)" within 30 runs $host; done
  kill -$how $run
  seen=0
  wait $run || seen=$?
  check "its exit status ($how)" $((128 + $(kill -l $how))) $seen
  for host in server client; do holds "$host does not run it any more ($how)" within 10 fails runs $host; done
done

rm "$LAB_STATE/testbed/key"
check "a lost key is made anew" again "$("$lab" exec server -- echo again)"
check "for both hosts" again "$("$lab" exec client -- echo again)"
: >"$LAB_STATE/testbed/server/info"
check "a host about which nothing is known is down" "server: down" "$("$lab" status | grep ^server)"
check "and started anew" again "$("$lab" exec server -- echo again)"

# status WANTED COMMAND...
status() {
  local wanted=$1 seen=0
  shift
  "$@" >/dev/null 2>&1 || seen=$?
  check "$*" "$wanted" "$seen"
}
status 2 env LAB_ACCEL=foo "$lab" up
status 2 env LAB_ON=nowhere "$lab" status
status 0 env LAB_ON=nowhere "$lab" help
status 2 "$lab" pingpong stray
check "a second build says nothing" "" "$("$lab" run 01 2>&1 >/dev/null | grep building)"
: >"$temp/file"
status 1 env LAB_STATE="$temp/file" "$lab" run 01
rm "$temp/file"
sleep 3
check "and nothing of it goes on" "" "$(ls "$temp/file" 2>/dev/null)"
exit $failed
