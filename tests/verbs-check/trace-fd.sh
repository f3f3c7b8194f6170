#!/usr/bin/env bash
# The trace of a program that is not trusted: to a descriptor, with a key that the program does not learn; and --quiet.
. "${LAB_ROOT:?}/tests/lib.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
require_device
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }

# refused REGEX OPTIONS...
refused() {
  run env VERBS_CHECK_TRACE_KEY="${key-}" "$check" "${@:2}"
  expect_usage_error "^verbs-check: $1"
}
key=0123
refused '--trace-fd wants a number' --trace-fd
for number in x 2 -1 ''; do
  refused "--trace-fd $number: not the number of a descriptor above 2" --trace-fd="$number" -- true
done
refused '--trace and --trace-fd exclude each other' --trace /tmp/x --trace-fd 7 -- true
refused '--quiet and --exit-code exclude each other' --quiet --exit-code 3 -- true
for key in '' 12x $'12\n'; do
  refused '--trace-fd wants a key of 1 to 128 hexadecimal digits' --trace-fd 7 -- true
done

shared=$(mktemp -d "$programs/trace-fd.XXXXXX") # below the checkout: the host sees it
trap 'clean_up "$shared"' EXIT
gcc -O1 -o "$shared/forger" "$LAB_ROOT/tests/verbs-check/robust/forger.c" -libverbs

# All in one go; "=== NAME STATUS" ends the output of each.
key=5ec4e7$RANDOM
# shellcheck disable=SC2016 # expanded on the host
start host server bash -c '
  check=$1 programs=$2 shared=$3 key=$4
  library=${check%/*}/libverbs-check.so
  try() {
    local name=$1 status=0
    shift
    "$@" 2>&1 || status=$?
    echo "=== $name $status"
  }
  export VERBS_CHECK_TRACE_KEY=$key
  try forger "$check" --quiet --trace-fd 7 -- "$shared/forger" 7>>"$shared/forger.trace"
  # The same without the command.
  try alone env VERBS_CHECK_TRACE_FD=7 VERBS_CHECK_QUIET=1 LD_PRELOAD="$library" "$shared/forger" 7>>"$shared/alone.trace"
  try quiet "$check" --quiet --trace-fd 7 -- "$programs/check-leak" 7>"$shared/quiet.trace"
  try gone "$check" --trace-fd 7 -- "$programs/check-busy-corrected" 7> >(exec 0<&-)
  try closed "$check" --trace-fd 7 -- "$programs/check-busy-corrected"
  try read-only "$check" --trace-fd 7 -- "$programs/check-busy-corrected" 7</dev/null
  unset VERBS_CHECK_TRACE_KEY
  try keyless env VERBS_CHECK_TRACE_FD=7 LD_PRELOAD="$library" "$programs/check-busy-corrected" 7>"$shared/keyless.trace"
' bash "$check" "$programs" "$shared" "$key"
finish host
expect_status 0
cp "$WORK/out" "$WORK/all"

# genuine NAME: the lines of the trace that have the key, without it.
genuine() { sed -n "s/^$key //p" "$shared/$1.trace"; }
for name in forger alone; do
  ended $name 3
  expect_out '^LD_PRELOAD=' # it has shown its environment
  expect_no_out 'verbs-check:|VERBS_CHECK_TRACE'
  expect_no_out "$key"
  [[ $(grep -c forged "$shared/$name.trace") == 2 ]] || wrong 'the two lines of the program in the trace, and none after exec'
  genuine $name >"$WORK/genuine"
  ! grep -q forged "$WORK/genuine" || wrong 'no line of the program with the key'
  [[ $(jq -r '.event // .verb' "$WORK/genuine" | tr '\n' ' ') == \
  'start ibv_get_device_list ibv_free_device_list start ibv_get_device_list ibv_free_device_list ' ]] ||
    wrong 'the calls of the program and of its child'
done
ended quiet 0
expect_no_out 'verbs-check:'
[[ $(genuine quiet | jq -r 'select(.event == "finding") | .id') == leak ]] || wrong 'the finding, in the trace'
ended gone 0
for name in closed read-only; do
  ended $name 2
  expect_out '^verbs-check: cannot write the trace to the descriptor 7: '
done
ended keyless 2
expect_out '^verbs-check: --trace-fd wants a key'
