#!/usr/bin/env bash
# Whatever /dev/kvm is like here, the hosts come up, say by what, and the second time lose no time to find out.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

own_states 1
export LAB_STATE=$temp/1
unset LAB_ACCEL

"$lab" up server 2>&1 | tee "$temp/first"
status=$("$lab" status | grep ^server)
"$lab" down
"$lab" up server 2>&1 | tee "$temp/second"

if [[ ! -r /dev/kvm || ! -w /dev/kvm ]]; then
  echo "this machine: no /dev/kvm for this user"
  holds "nothing was tried" fails grep -q KVM "$temp/first"
  accel="software emulation"
elif [[ $status == *KVM* ]]; then
  echo "this machine: KVM works"
  accel=KVM
else
  echo "this machine: /dev/kvm is there and does not work"
  holds "it says that KVM did not work" grep -q "is there, but a guest did not start" "$temp/first"
  accel="software emulation"
fi
check "status says by what" yes "$([[ $status == *"$accel"* ]] && echo yes)"
holds "the second start says by what" grep -q "($accel)" "$temp/second"
holds "the second start tries nothing" fails grep -q "trying" "$temp/second"

"$lab" down
LAB_ACCEL=tcg "$lab" up server 2>&1 | tee "$temp/third"
holds "LAB_ACCEL=tcg is obeyed" grep -q "(software emulation)" "$temp/third"
holds "LAB_ACCEL=nonsense is refused" fails env LAB_STATE="$temp/other" LAB_ACCEL=nonsense "$lab" up server
exit $failed
