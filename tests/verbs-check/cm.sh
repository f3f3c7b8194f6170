#!/usr/bin/env bash
# A program over rdma_cm runs under the checker as it runs without it, and nothing is said about it: neither about what
# librdmacm makes for itself, nor about what it makes for the program. The same for sockets over RDMA. What is posted
# through the extended interface is not watched, which is said once.
. "$LAB_ROOT/tests/lib.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
require_device
for tool in rping rstream ibv_rc_pingpong; do
  command -v $tool >/dev/null || { printf '%s is not installed (rdmacm-utils, ibverbs-utils)\n' $tool; exit 77; }
done

# Both sides on one host, over its own address. try NAME SERVER CLIENT: "=== NAME SERVER-STATUS CLIENT-STATUS" ends the output
# of the client.
# shellcheck disable=SC2016 # expanded on the host
script='
  try() {
    local name=$1 status=0
    $2 >/tmp/cm.server 2>&1 &
    sleep '"$(scaled 4)"'
    $3 2>&1 || status=$?
    wait $! && echo "=== $name 0 $status" || echo "=== $name $? $status"
    grep "^verbs-check" /tmp/cm.server
    true
  }
  own=$(ip -o -4 address show eth1 | sed -E "s,.* inet ([0-9.]+)/.*,\1,")
  try rping "rping -s -a $own -C 3" "rping -c -a $own -C 3 -v"
  try rstream "rstream -b $own -S 64 -C 5" "rstream -s $own -S 64 -C 5"
  try extended "ibv_rc_pingpong -g 1 -n 20 -N" "ibv_rc_pingpong -g 1 -n 20 -N $own"'
start plain client bash -c "$script"
finish plain
expect_status 0
cp "$WORK/out" "$WORK/plain.out"
start checked client "$check" --exit-code 66 -- bash -c "$script"
finish checked
expect_status 0
cp "$WORK/out" "$WORK/checked.out"
expect_out '^=== rping 0 0$'
expect_out '^=== rstream 0 0$'
expect_out '^=== extended 0 0$'
# Numbers are others in each run.
compared() { grep -v '^verbs-check: note: ' "$1" | sed -E 's/0x[0-9a-f]+/N/g; s/[0-9]+(\.[0-9]+)*[kmg]?/N/g; s/ +/ /g'; }
diff <(compared "$WORK/plain.out") <(compared "$WORK/checked.out") >"$WORK/diff" || {
  cat "$WORK/diff"
  wrong 'the same with the checker (>) as without (<)'
}
expect_out '^verbs-check: note: QP #1 is posted to through the extended interface, which is not watched$'
[[ $(grep -c '^verbs-check: note: ' "$WORK/checked.out") -eq 2 ]] || wrong 'one note of each side'
