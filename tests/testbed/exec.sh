#!/usr/bin/env bash
# What ./lab exec promises: streams, arguments, status, folder and signals pass as if the program ran here.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
on() { "$lab" exec "$@"; }
status() { local status=0; "$@" >/dev/null 2>&1 || status=$?; echo $status; }

"$lab" up server
cd "$LAB_ROOT"

# Arguments and status.
awkward=('two  words' '' "it's" '"quoted"' $'two\nlines' "\$HOME \`id\` \\ * ?" '-n' 'rührt 中文')
check "arguments arrive as they are" "$(printf '<%s>' "${awkward[@]}")" "$(on server -- printf '<%s>' "${awkward[@]}")"
for code in 0 1 2 77 127 255; do
  check "exit status $code" $code "$(status on server -- sh -c "exit $code")"
done
# shellcheck disable=SC2016 # expanded there
check "death by a signal is 128 + its number" 139 "$(status on server -- bash -c 'kill -SEGV $$')"
check "a command line that is too long is refused" 1 "$(status on server -- echo "$(printf %09000d 0)")"
check "no such command is 127" 127 "$(status on server -- no-such-command)"
check "a host that does not exist is a usage error" 2 "$(status on nobody -- true)"

# Streams.
check "standard output and error stay apart" "out" "$(on server -- sh -c 'echo out; echo err >&2' 2>"$temp/err")"
check "standard error" "err" "$(<"$temp/err")"
head -c 3000000 /dev/urandom >"$temp/data"
on server -- cat <"$temp/data" >"$temp/back"
holds "binary data through input and output" cmp "$temp/data" "$temp/back"
check "the end of the input arrives" "0" "$(on server -- wc -c </dev/null)"

# Output that nobody takes ends the program, as it would here.
check "the reader is gone" "y 141" "$(set +e; timeout 60 "$lab" exec server -- yes | head -n 1 | tr "\n" " "; echo "${PIPESTATUS[0]}")"
seen=0
timeout 60 "$lab" exec server -- cat "$lab" >/dev/full 2>"$temp/err" || seen=$?
check "the disk is full" 1 $seen
holds "and it is said" grep -q 'the output of cat could not be written' "$temp/err"

# The ssh server takes five connections at a time that have not said who they are.
for number in {1..12}; do on server -- echo "$number" >"$temp/many.$number" 2>&1 & done
wait
check "twelve at once" "$(seq 12)" "$(sort -n "$temp"/many.*)"

# Where it runs.
check "the host's name" server "$(on server -- uname -n)"
check "the folder" "$LAB_ROOT/tests" "$(cd tests && on server -- pwd)"
check "the checkout, where the folder is not there" "$LAB_ROOT" "$(cd "$temp" && on server -- pwd)"
# shellcheck disable=SC2016
check "listed variables are passed" "5,a= b" \
  "$(ASAN_OPTIONS='a= b' LAB_TIME_SCALE=5 on server -- sh -c 'echo "$LAB_TIME_SCALE,$ASAN_OPTIONS"')"
check "env sets others" "it's" "$(on server -- env "X=it's" printenv X)"
check "both GIDs are there" 2 \
  "$(on server -- sh -c 'cat /sys/class/infiniband/rxe0/ports/1/gids/[01] | grep -c -e ^fe80: -e 0000:ffff:c000:0201')"

# The checkout is what it is outside, at once.
probe=$LAB_ROOT/.lab-test-$$
old=
trap '[[ -z $old ]] || kill "$old" 2>/dev/null || true; rm -rf "$temp" "$probe"' EXIT
for text in first second third; do
  printf '#!/bin/sh\necho %s\n' $text >"$probe.new"
  chmod +x "$probe.new"
  mv "$probe.new" "$probe"
  check "a program that is built again runs as the new one ($text)" $text "$(on server -- "$probe")"
done
printf '#!/bin/sh\necho in place\n' >"$probe"
check "a program that is changed in place" "in place" "$(on server -- "$probe")"
on server -- sh -c "echo from inside >'$probe'"
check "what is written there is here" "from inside" "$(<"$probe")"

# The same while the old one still runs there: the kernel of the host keeps to the file that it knows under that name.
newer() { cp "$(type -P "$1")" "$probe.new" && mv "$probe.new" "$probe"; }
newer sleep
"$lab" exec server -- "$probe" 300 & # itself, not a shell around it: it is to be killed
old=$!
# shellcheck disable=SC2317 # within calls it
running() { on server -- sh -c "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q '$probe 30[0]'"; }
holds "the old program runs" within 10 running
newer echo
check "a program that is built again while the old one runs" new "$(on server -- "$probe" new)"
check "and when it is not the first word" new "$(on server -- sh -c "'$probe' new")"
newer basename
check "and when it is built once more" new "$(on server -- "$probe" /that/is/new)"
holds "the old one is undisturbed" running
kill $old
wait $old 2>/dev/null || true

# The end of the local side ends the program and its children. Each round has its own sleep to look for.
# shellcheck disable=SC2317 # within calls it
there() { on server -- sh -c "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q 'sleep [4]${1#4}'"; }
number=$((400000 + RANDOM))   # 4 comes first: see there
for how in "-INT" "-TERM" "-KILL" "-INT stubborn"; do
  number=$((number + 1))
  program="sleep $number; true"
  [[ $how != *stubborn ]] || program="trap '' INT; $program"
  # setsid: a background program of a script would ignore INT.
  setsid bash -c 'trap - INT; exec "$@"' - env --default-signal=INT "$lab" exec server -- sh -c "$program" &
  local_side=$!
  holds "the program runs ($how)" within 10 there $number
  kill "${how% *}" $local_side
  seen=0
  wait $local_side 2>/dev/null || seen=$?
  check "the exit status ($how)" "$(case $how in *INT*) echo 130 ;; *TERM*) echo 143 ;; *) echo 137 ;; esac)" $seen
  holds "the program and its child are gone ($how)" within 10 fails there $number
done

exit $failed
