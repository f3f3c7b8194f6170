#!/usr/bin/env bash
# The command: its options, what it refuses, the exit status, failures on purpose, the trace.
. "${LAB_ROOT:?}/tests/lib.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
chapter=$LAB_ROOT/build/chapters/03-protection-domain
require_device
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }

# What needs no device. refused REGEX OPTIONS...
refused() {
  run "$check" "${@:2}"
  expect_usage_error "^verbs-check: $1"
}
refused 'what shall be run\?'
refused 'what shall be run\?' --
refused 'unknown option --nosuch; see verbs-check --help$' --nosuch -- true
refused '--trace wants a file' --trace
refused '--fail wants VERB\[:N\]=ERRNO' --fail
refused 'cannot write the trace /nonexistent/x$' --trace /nonexistent/x -- true
for number in 0 256 x -1 ''; do
  refused "--exit-code $number: not a number from 1 to 255" --exit-code "$number" -- true
done
refused '--fail-completion wants N=STATUS' --fail-completion
refused '--patience wants seconds' --patience
for number in 0 0.0 x -1 1.2345 ''; do
  refused "--patience $number: not a number of seconds" --patience "$number" -- true
done
run "$check" --help
expect_status 0
expect_out '^usage: verbs-check '
expect_no_err
run "$check" -- nosuch --help
expect_status 127
expect_err "^verbs-check: there is no program 'nosuch'$"
run "$check" -- "$LAB_ROOT/README.md"
expect_status 126
expect_err '^verbs-check: .*README.md is not an executable file$'

# Static programs, and programs of somebody else's rights: the loader would ignore the library, so nothing is run.
printf 'int main() { return 7; }\n' >"$WORK/seven.cpp"
g++ -o "$WORK/dynamic" "$WORK/seven.cpp"
g++ -static -o "$WORK/static" "$WORK/seven.cpp"
refused '.*static cannot be watched: it is statically linked' -- "$WORK/static"
printf '#!%s\n' "$WORK/static" >"$WORK/script"
chmod +x "$WORK/script"
refused '.*script cannot be watched: it is statically linked' -- "$WORK/script"
if [[ $EUID -eq 0 ]]; then
  cp "$WORK/dynamic" "$WORK/su"
  chown 65534 "$WORK/su"
  chmod 4755 "$WORK/su"
  refused '.*su cannot be watched: it is setuid or setgid' -- "$WORK/su"
else
  refused 'su cannot be watched: it is setuid or setgid' -- su
fi

# A program that calls no verb, and one with AddressSanitizer, whose library must come first: nothing to see.
run "$check" --exit-code 66 -- "$WORK/dynamic"
expect_status 7
expect_no_err
g++ -fsanitize=address -o "$WORK/sanitized" "$WORK/seven.cpp"
run "$check" -- "$WORK/sanitized"
expect_status 7
expect_no_err

# Installed elsewhere the command finds its library.
run cmake --install "$LAB_ROOT/build" --prefix "$WORK/installed"
expect_status 0
run "$WORK/installed/bin/verbs-check" -- "$WORK/dynamic"
expect_status 7
expect_no_err

# On the host: all in one go. "=== NAME STATUS" ends the output of each.
traces=$(mktemp -d "$LAB_ROOT/build/tests/verbs-check/traces.XXXXXX") # below the checkout, where a host can write
trap 'clean_up "$traces"' EXIT
# shellcheck disable=SC2016 # expanded on the host
start host server bash -c '
  check=$1 programs=$2 chapter=$3 traces=$4
  try() {
    local name=$1
    shift
    "$check" "$@" 2>&1
    echo "=== $name $?"
  }
  try first --fail ibv_alloc_pd=ENOMEM -- "$chapter"
  try number --fail ibv_alloc_pd:2=12 -- "$chapter"
  try destroy --fail ibv_dealloc_pd=EBUSY -- "$programs/check-busy-corrected"
  try every --fail ibv_dealloc_pd:every=EIO --fail ibv_dereg_mr=5 -- "$programs/check-busy-corrected"
  try third --fail ibv_modify_qp:3=EIO -- "$programs/check-qp-value-range-corrected"
  try beyond --fail ibv_alloc_pd:99=ENOMEM -- "$programs/check-busy-corrected"
  for spec in ibv_alloc_pd ibv_alloc_pd= ibv_alloc_pd=ENOSUCH ibv_alloc_pd:0=EIO =EIO a=EIO,,b=EIO; do
    try "bad:$spec" --fail "$spec" -- "$programs/check-busy-corrected"
  done
  for spec in 1 0=RETRY_EXC_ERR 1=SUCCESS 1=99; do
    try "bad-completion:$spec" --fail-completion "$spec" -- "$programs/check-busy-corrected"
  done
  try completion --fail-completion 2=RETRY_EXC_ERR -- "$programs/check-lkey-unknown-corrected"
  try completions --fail-completion every=13 -- "$programs/check-lkey-unknown-corrected"
  try strict-full --strict -- "$programs/check-send-queue-full"
  try strict-state --strict -- "$programs/check-post-wrong-state"
  try strict-mtu --strict -- "$programs/check-qp-mtu-above-active"
  try strict-right --strict --exit-code 66 -- "$programs/check-send-queue-full-corrected"
  try code --exit-code 66 -- "$programs/check-qp-value-range"
  try clean --exit-code 66 -- "$programs/check-busy-corrected"
  try twice --exit-code 66 -- sh -c "$programs/check-leak; $programs/check-leak"
  try trace --trace "$traces/clean" -- "$programs/check-qp-value-range-corrected"
  try failing --trace "$traces/failing" --fail ibv_alloc_pd=ENOMEM -- "$programs/check-busy-corrected"
  cd "$traces"
  try children --trace children -- sh -c "cd /; $programs/check-busy-corrected; $programs/check-busy-corrected"
  setsid "$check" --trace "$traces/killed" -- sh -c "while :; do $chapter; done" >/dev/null 2>&1 &
  until [[ -e $traces/killed && $(wc -l <"$traces/killed") -ge 20 ]]; do sleep 0.1; done
  kill -KILL -- "-$!"
' bash "$check" "$programs" "$chapter" "$traces"
finish host
expect_status 0
cp "$WORK/out" "$WORK/all"
ended first 1
expect_out '^error: ibv_alloc_pd: ENOMEM '
ended number 1
expect_out '^error: ibv_alloc_pd: ENOMEM '
ended destroy 1
expect_out '^ibv_dealloc_pd: Device or resource busy$'
expect_out '^verbs-check: \[closed-with-children\] context #1 '
ended every 1
expect_out '^ibv_dealloc_pd: Input/output error$'
expect_out '^verbs-check: \[closed-with-children\] context #1 '
ended third 1
expect_out '^ibv_modify_qp: Input/output error$'
ended beyond 0
expect_no_out 'verbs-check'
ended bad:ibv_alloc_pd 2
expect_out "^verbs-check: --fail: 'ibv_alloc_pd' is not of the form VERB\[:N\]=ERRNO$"
ended bad:ibv_alloc_pd= 2
ended bad:ibv_alloc_pd=ENOSUCH 2
expect_out "^verbs-check: --fail: 'ENOSUCH' is no errno, as name or number$"
expect_no_out '^ibv_dealloc_pd'
ended bad:ibv_alloc_pd:0=EIO 2
ended bad:=EIO 2
ended bad:a=EIO,,b=EIO 2
# Completions that fail on purpose: the N-th, and from then on the QP is in ERR as on hardware.
ended bad-completion:1 2
expect_out "^verbs-check: --fail-completion: '1' is not of the form N=STATUS"
ended bad-completion:0=RETRY_EXC_ERR 2
ended bad-completion:1=SUCCESS 2
expect_out "^verbs-check: --fail-completion: 'SUCCESS' is no failure of ibv_wc_status"
ended bad-completion:1=99 2
ended completion 0
expect_out '^completion: SUCCESS'
expect_out '^completion: RETRY_EXC_ERR \(12\)'
ended completions 0
expect_out '^completion: RNR_RETRY_EXC_ERR \(13\)'
expect_no_out '^completion: SUCCESS'
# As a device that forgives nothing.
ended strict-full 0
expect_out '^ibv_post_send: Cannot allocate memory$'
expect_out '^verbs-check: \[send-queue-full\]'
ended strict-state 0
expect_out '^ibv_post_send: Invalid argument$'
ended strict-mtu 1
expect_out '^ibv_modify_qp: Invalid argument$'
ended strict-right 0
expect_no_out 'verbs-check'
ended code 66
expect_out '^verbs-check: 1 finding\(s\)$'
ended clean 0
expect_no_out 'verbs-check'
ended twice 66

# The trace: each line is a JSON object with these fields and types.
# fields FILE
fields() {
  COMMAND="jq on the trace $1" STATUS=0
  cp "$traces/$1" "$WORK/out"
  [[ -s $WORK/out && $(tail -c 1 "$WORK/out" | od -An -c) == *'\n'* ]] || wrong 'whole lines'
  while IFS= read -r line; do
    jq -es 'length == 1' >/dev/null <<<"$line" || wrong "one JSON value in the line $line"
  done <"$WORK/out"
  jq -es 'all(.[]; (.thread | type == "number" and . > 0) and (.pid | type == "number" and . > 0) and
    (.time_ns | type == "number" and . > 0) and
    (if .event == "start" then (.program | type) == "string" and (.host | type) == "string" and .realtime_ns > 0
     elif .event == "finding" then (.id | type) == "string" and (.what | type) == "string" and (.where | type) == "string"
     else (.verb | type == "string" and startswith("ibv_")) and (.object | type) == "string" and
       (.result | type) == "number" and (.where | type) == "string" and (.args | type) == "object" end))' "$WORK/out" \
    >/dev/null || wrong 'lines with the fields that docs/verbs-check/trace.md describes'
}
# calls FILE: verb, object and result of those that make and destroy, one call a line.
calls() { jq -r 'select(.verb // "" | test("_pd|_mr|modify_qp")) | "\(.verb) \(.object) \(.result)"' "$traces/$1"; }
ended trace 0
fields clean
[[ $(calls clean) == 'ibv_alloc_pd PD #1 0
ibv_modify_qp QP #1 0
ibv_modify_qp QP #1 0
ibv_modify_qp QP #1 0
ibv_dealloc_pd PD #1 0' ]] || wrong 'the calls of check-qp-value-range-corrected'
line=$(grep -n '// here: qp-value-range' "$LAB_ROOT/tests/verbs-check/programs/qp-value-range.cpp" | cut -d : -f 1)
[[ $(jq -r 'select(.verb == "ibv_modify_qp") | .where' "$traces/clean" | tail -n 1) == "main, qp-value-range.cpp:$line" ]] ||
  wrong "the third ibv_modify_qp at main, qp-value-range.cpp:$line"
jq -es '[.[].time_ns] | . == sort' "$traces/clean" >/dev/null || wrong 'lines in the order of time'
fields failing
[[ $(calls failing | head -n 1) == 'ibv_alloc_pd  12' ]] || wrong 'the failed ibv_alloc_pd, without an object'
ended children 0
fields children
[[ $(jq -s 'map(.pid) | unique | length' "$traces/children") == 2 ]] || wrong 'the calls of two processes'
# Killed in the middle: what is there is whole.
fields killed
printf '%s lines after SIGKILL\n' "$(wc -l <"$traces/killed")"
