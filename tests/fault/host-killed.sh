#!/usr/bin/env bash
# The host under one side of a ping-pong dies: its QEMU is killed with SIGKILL. The other side must end with exit status 1
# within its deadline, and the next command must find a working host again. In a testbed of its own.
#
# host-killed.sh [TIMES]: once unless told otherwise, each time at another moment; a host takes ten seconds to come back.
. "${LAB_ROOT:?}/tests/lib.sh"
[[ ${LAB_ON:-testbed} == testbed ]] || { echo "only the testbed has hosts that can be killed"; exit 77; }
export LAB_ON=testbed LAB_CACHE=${LAB_CACHE:-${LAB_STATE:-$LAB_ROOT/.lab}/cache} LAB_STATE=$WORK/state
trap '"$LAB_ROOT/lab" down; rm -rf "$WORK"' EXIT
program=$LAB_ROOT/build/chapters/11-rc-ping-pong
require_device
run "$LAB_ROOT/lab" up # both: a boot must not use up the deadline of the side that waits
expect_status 0

times=${1:-1}
for ((time = 1; time <= times; ++time)); do
  start survivor server "$program" -n 10000000 --deadline 8
  wait_for survivor '^local address:'
  start victim client "$program" -n 10000000 --deadline 8 server
  wait_for victim '^remote address:'
  # From the middle of the connecting on: a tenth of a second later each time.
  sleep "$((time / 10)).$((time % 10))"
  kill -KILL "$(<"$LAB_STATE/testbed/client/pid")"
  began=$SECONDS
  finish survivor
  expect_status 1
  expect_out '^error: the peer is silent: waited 8 s for '
  took=$((SECONDS - began))
  ((took <= $(scaled 20))) || wrong "an end within the deadline; it took $took s"
  finish victim
  [[ $STATUS -ne 0 ]] || wrong "a failure of the command whose host died"

  on client true
  expect_status 0
done
printf '%s of %s: the survivor ended within its deadline\n' "$times" "$times"
