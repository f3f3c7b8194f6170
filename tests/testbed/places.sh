#!/usr/bin/env bash
# ./lab on a machine that has a device, and on one whose own kernel makes one. Such a machine is the host "client": ./lab
# runs there as it is.
. "${LAB_ROOT:?}/tests/lib.sh"
[[ ${LAB_ON:-testbed} == testbed ]] || { echo "only a testbed host can be played with like this"; exit 77; }
require_device
"$LAB_ROOT/lab" up >/dev/null 2>&1
trap '"$LAB_ROOT/lab" exec client -- env LAB_ON=host ./lab down >/dev/null 2>&1; rm -rf "$WORK"' EXIT
cd "$LAB_ROOT"

# Its device is found without a word about it.
on client ./lab doctor
expect_status 0
expect_out '^place     host, because rxe0 has an active port'
on client ./lab --on host pingpong -n 20
expect_status 0
expect_out '^client: 20 iters'
expect_out '^measured on: this machine, device rxe0, both sides on one host$'

# A device of its own, made on demand and removed by down, with its interface.
on client ./lab --on host-rxe pingpong -n 20 -d lab_rxe0
expect_status 0
expect_out '^measured on: this machine, Soft-RoCE in its own kernel \(Linux [^)]*\), both sides on one host$'
on client ./lab down
expect_status 0
on client ls /sys/class/infiniband
expect_no_out lab_rxe0
on client ip link show lab_rxe_net0
expect_status 1

# As an ordinary user neither can be made.
on client setpriv --reuid=65534 --regid=65534 --clear-groups env LAB_STATE=/tmp/nobody ./lab --on host-rxe up
expect_status 1
expect_err 'run it as root'

# And a host never touches the testbed that it is part of.
on client ./lab --on testbed up
expect_status 1
expect_err 'this is a host of the testbed'
run "$LAB_ROOT/lab" status
expect_out '^server: up, process'
expect_out '^client: up, process'
