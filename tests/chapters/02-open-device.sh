#!/usr/bin/env bash
# Chapter 02: limits, ports, GIDs and the choice among them; and what is said when the wish cannot be granted.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_no_err
expect_out '^opened rxe0, which gives at most$'
for limit in max_pd max_cq max_cqe max_qp max_qp_wr max_sge max_mr max_mr_size max_qp_rd_atom; do
  expect_out "^  $limit +[1-9][0-9]*  [A-Za-z]"
done
expect_out '^port 1: active, Ethernet, active MTU 1024 bytes \(enum 3\), max_msg_sz 8388608 bytes, LID 0$'
expect_out '^GID table of port 1: 1024 slots, 2 filled$'
expect_out '^  index 0 +fe80::[0-9a-f:]+ +RoCE v2, link-local$'
expect_out '^  index 1 +::ffff:[0-9.]+ +RoCE v2, IPv4-mapped$'
expect_out '^ibv_query_gid of the empty slot 2 returns 0, GID ::$'
expect_out '^GID to use: index 1, by the rule'

# Options: the exit status and the last line for each.
# shellcheck disable=SC2016 # expanded on the host
on server sh -c '
  for arguments in "-d rxe0 -i 1" "-g 0" "-g 99" "-i 9" "-d nosuch" "--nosuch"; do
    said=$("$0" $arguments 2>&1)
    echo "$arguments: exit $?: $(printf "%s\n" "$said" | tail -n 1)"
  done' "$program"
expect_out '^-d rxe0 -i 1: exit 0: GID to use: index 1, '
expect_out '^-g 0: exit 0: GID to use: index 0, as asked with -g$'
expect_out '^-g 99: exit 1: error: the GID table is empty at index 99; filled: 0 1$'
expect_out '^-i 9: exit 1: error: device rxe0 has no port 9; its ports are 1 to 1$'
expect_out "^-d nosuch: exit 1: error: no RDMA device is named 'nosuch'; there is: rxe0\$"
expect_out '^--nosuch: exit 2: '

# A device whose port is not active, and the same port once its interface is up with two addresses: the table follows.
# On the client, which no other test of this kind needs to have exactly one device.
# shellcheck disable=SC2016
on client sh -c '
  remove() { rdma link delete down0; ip link delete down0; }
  remove 2>/dev/null
  trap remove EXIT
  ip link add down0 type dummy && rdma link add down0 type rxe netdev down0 || exit 99
  "$0" -d down0
  echo "while down: exit $?"
  ip addr add 198.51.100.7/24 dev down0
  ip addr add 2001:db8::7/64 dev down0 nodad
  ip link set down0 up mtu 9000
  "$0" -d down0
  echo "while up: exit $?"' "$program"
expect_out '^port 1: down, Ethernet, '
expect_err '^error: port 1 of down0 is down, not active: is its network interface up\?$'
expect_out '^while down: exit 1$'
expect_out '^port 1: active, Ethernet, active MTU 4096 bytes \(enum 5\), '
expect_out '^  index [0-9]+ +2001:db8::7 +RoCE v2, global$'
expect_out '^while up: exit 0$'
chosen=$(sed -nE 's/^GID to use: index ([0-9]+), .*/\1/p' "$WORK/out")
expect_out "^  index $chosen +::ffff:198.51.100.7 +RoCE v2, IPv4-mapped\$"

# The device file may not be opened by this user. In a mount namespace, so nobody else sees it.
# shellcheck disable=SC2016
on server unshare --mount sh -c '
  set -e
  number=$(stat -c "%Hr %Lr" /dev/infiniband/uverbs0)
  mount -t tmpfs -o dev none /dev/infiniband
  mknod -m 600 /dev/infiniband/uverbs0 c $number
  exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0"' "$program"
expect_status 1
expect_err '^error: ibv_open_device: (ENOENT|EACCES) .*, rxe0'

expect_usual_refusals "$program"
