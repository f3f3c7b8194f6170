#!/usr/bin/env bash
# Programs that are right run under the checker as they run without it, and it says nothing: the chapters and the stock tools.
# Chapters that make mistakes to show them are found out, each mistake once a place.
. "${LAB_ROOT:?}/tests/lib.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
require_device

# What the chapters show on purpose: a line for each finding, with the chapter's number.
expected='03 busy
04 cq-refused
04 cq-overrun
05 qp-refused
06 busy
06 qp-refused
06 closed-with-children
07 mr-refused
07 busy
08 qp-state-skipped
08 qp-mask-missing
08 qp-mask-extra
08 qp-grh-missing
09 wc-rnr-retry-exc-err
09 wc-loc-qp-op-err
09 lkey-unknown
09 lkey-other-pd'

# Each in one go, with the checker on one host and without it on the other. "=== NAME STATUS" ends the output of each;
# what the checker says goes to a descriptor of its own.
# shellcheck disable=SC2016 # expanded on the host
script='
  for name; do
    $name >"$out" 2>"$err"
    status=$?
    sed "s/^/out /" "$out"
    sed "s/^/err /" "$err"
    echo "=== ${name##*/} $status"
  done
  rm -f "$out" "$err"'
programs=()
for folder in "$LAB_ROOT"/chapters/0*/; do
  name=$(basename "$folder")
  programs+=("$LAB_ROOT/build/chapters/$name")
done
programs+=(ibv_devices ibv_devinfo 'ibv_devinfo -v' 'ibv_devinfo -d nosuch')
start without client bash -c "out=\$(mktemp) err=\$(mktemp); $script" bash "${programs[@]}"
start with server "$check" -- bash -c "out=\$(mktemp) err=\$(mktemp); $script" bash "${programs[@]}"

# Numbers are different in each run, and addresses and GUIDs on each host.
compared() { sed -E 's/\b[0-9a-f]{4}(:[0-9a-f]{2,6}){2,7}\b|(::ffff:|fe80::)[0-9a-f.:]+/ADDRESS/g; s/0x[0-9a-f]+/N/g; s/[0-9]+(\.[0-9]+)*/N/g; s/ +/ /g'; }
finish without
expect_status 0
compared <"$WORK/out" >"$WORK/plain"
finish with
expect_status 0
if ! diff "$WORK/plain" <(grep -v '^err verbs-check:' "$WORK/out" | compared) >"$WORK/diff"; then
  cat "$WORK/diff"
  wrong 'the same output and exit status with the checker (>) as without (<)'
fi
found=$(awk '/^=== / { sub(/-.*/, "", $2); gsub(/@/, $2, text); printf "%s", text; text = ""; next }
  match($0, /^err verbs-check: \[[^]]*\]/) && !/ came [0-9]+ times/ {
    id = substr($0, 19, RLENGTH - 19); if (text !~ "(^|\n)@ " id "\n") text = text "@ " id "\n" }' "$WORK/out") || true
[[ $found == "$expected" ]] || wrong "these findings in the chapters: $expected; not: $found"

# The two sides of chapters 10 and 11, and of the stock ping-pong, under the checker.
both() {
  start "$1.server" server "$check" --exit-code 66 -- "${@:3}" -p "$2"
  # The stock client does not wait for its server.
  [[ $1 != stock ]] || wait_listening "$1.server" server "$2"
  start "$1.client" client "$check" --exit-code 66 -- "${@:3}" -p "$2" server
  # The client first: where it gave up, the server waits for nothing.
  for side in client server; do
    finish "$1.$side"
    expect_status 0
    expect_no_out 'verbs-check'
  done
}
both 10 18751 "$LAB_ROOT/build/chapters/10-connection-exchange"
both 11 18752 "$LAB_ROOT/build/chapters/11-rc-ping-pong" -n 100
both stock 18753 ibv_rc_pingpong -g 1 -n 100
