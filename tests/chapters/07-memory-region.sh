#!/usr/bin/env bash
# Chapter 07: access flags, memory that cannot be registered, what stays pinned, the cost, the limit on locked memory.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_no_err
expect_out '^device rxe0, RLIMIT_MEMLOCK ([0-9]+ KiB|unlimited)( \(does not bind this process: it has CAP_IPC_LOCK\))?$'
expect_out '^region of 4096 bytes, (4|8) KiB pinned$'
# The keys of Soft-RoCE: the rkey is 0 without a remote right, else the same as the lkey.
expect_out '^  the buffer +local read only +lkey 0x[0-9a-f]{8}, rkey 0x00000000$'
expect_out '^  the buffer +LOCAL_WRITE +lkey 0x[0-9a-f]{8}, rkey 0x00000000$'
for access in REMOTE_READ 'LOCAL_WRITE \| REMOTE_WRITE' 'LOCAL_WRITE \| REMOTE_ATOMIC'; do
  expect_out "^  the buffer +$access +lkey (0x[0-9a-f]{8}), rkey \\1\$"
done
expect_out '^  the buffer +REMOTE_WRITE +EINVAL \(Invalid argument\)$'
expect_out '^  the buffer +REMOTE_ATOMIC +EINVAL \(Invalid argument\)$'
expect_out '^  read-only +LOCAL_WRITE +EFAULT \(Bad address\)$'
expect_out '^  read-only +local read only +lkey 0x'
expect_out '^  half unmapped +local read only +EFAULT \(Bad address\)$'
expect_out '^pinned: 4 KiB by ibv_reg_mr, 4 KiB after munmap, 0 KiB after ibv_dereg_mr$'
for size in 4 64 1024 16384; do
  expect_out "^ +$size KiB( +[0-9]+\\.[0-9]){3}\$"
done
expect_out '^ibv_dealloc_pd, the region alive: EBUSY \(Device or resource busy\)$'

# Options: the exit status and the last line for each.
# shellcheck disable=SC2016 # expanded on the host
on server sh -c '
  for arguments in "-i 9" "-d nosuch" "-s 0" "-s 2147483649" "--nosuch"; do
    said=$("$0" $arguments 2>&1)
    echo "$arguments: exit $?: $(printf "%s\n" "$said" | grep -m 1 -e error -e size -e nosuch)"
  done' "$program"
expect_out '^-i 9: exit 1: error: device rxe0 has no port 9; its ports are 1 to 1$'
expect_out "^-d nosuch: exit 1: error: no RDMA device is named 'nosuch'; there is: rxe0\$"
expect_out '^-s 0: exit 2: .*--size'
expect_out '^-s 2147483649: exit 2: .*--size'
expect_out '^--nosuch: exit 2: '

# An ordinary user with a limit of 64 KiB. A copy of the program: the checkout may lie where only its owner may look.
# shellcheck disable=SC2016
on server sh -c '
  copy=$(mktemp) && trap "rm $copy" EXIT && cp "$0" "$copy" && chmod 755 "$copy"
  as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "ulimit -l 64; exec \"\$@\"" sh "$copy" "$@"; }
  as_user -s 8192
  echo "8192: exit $?"
  as_user -s 1048576
  echo "1048576: exit $?"' "$program"
expect_out '^device rxe0, RLIMIT_MEMLOCK 64 KiB$'
expect_out '^region of 8192 bytes, (8|12) KiB pinned$'
expect_out '^ +4 KiB( +[0-9]+\.[0-9]){3}$'
expect_out '^ +1024 KiB ENOMEM \(Cannot allocate memory\)$'
expect_out '^8192: exit 0$'
expect_out '^1048576: exit 1$'
expect_err '^error: ibv_reg_mr: ENOMEM \(Cannot allocate memory\), 1048576 bytes with RLIMIT_MEMLOCK 64 KiB\. .*RLIMIT_MEMLOCK'

expect_usual_refusals "$program"
