#!/usr/bin/env bash
# Chapter 06: what each destroy verb answers when it comes too early, which orders are right, and what ownership does.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_no_err
busy='EBUSY \(Device or resource busy\)'
for attempt in 'ibv_dealloc_pd, an MR is alive' 'ibv_dealloc_pd, an SRQ is alive' 'ibv_dealloc_pd, a QP is alive' \
  'ibv_destroy_srq, a QP uses it' 'ibv_destroy_cq, a QP uses it'; do
  expect_out "^  $attempt +$busy, errno 16\$"
done
expect_out "^  ibv_destroy_comp_channel, a CQ uses it +$busy, errno 0\$"
expect_out '^still usable: the QP is in RESET, ibv_poll_cq finds 0 completions$'
# By hand, each of these once, in this order, and none of them refused.
order=$(sed -nE '/^in order, by hand:$/,/^orders/s/^  (ibv_[a-z_]+) +0$/\1/p' "$WORK/out" | tr '\n' ' ')
[[ $order == 'ibv_destroy_qp ibv_destroy_srq ibv_dereg_mr ibv_dealloc_pd ibv_destroy_cq ibv_destroy_comp_channel ' ]] ||
  wrong "each with 0, in this order: QP, SRQ, MR, PD, CQ, channel"
# Of all 24 orders these five, no more: users before what they use, and nothing else.
accepted=$(sed -nE 's/^  ((MR|QP|CQ|PD)(, (MR|QP|CQ|PD)){3})$/\1/p' "$WORK/out" | tr '\n' ';')
[[ $accepted == 'MR, QP, CQ, PD;MR, QP, PD, CQ;QP, CQ, MR, PD;QP, MR, CQ, PD;QP, MR, PD, CQ;' ]] ||
  wrong "the five orders in which QP goes before PD and CQ, and MR before PD"
expect_out '^  send queue of 16: ibv_destroy_qp, ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd, end of the function$'
expect_out '^  send queue of 1073741824: ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd, ibv_create_qp had failed: EINVAL '
expect_out '^  ibv_close_device, PD and MR alive: 0; pinned 64 KiB, then 0 KiB$'
expect_out '^  ibv_close_device, PD, CQ and MR alive: 0; pinned 64 KiB, then 64 KiB$'

# Options: the exit status and the last line for each.
# shellcheck disable=SC2016 # expanded on the host
on server sh -c '
  for arguments in "-d rxe0 -i 1" "-i 9" "-d nosuch" "--nosuch"; do
    said=$("$0" $arguments 2>&1)
    echo "$arguments: exit $?: $(printf "%s\n" "$said" | tail -n 1)"
  done' "$program"
expect_out '^-d rxe0 -i 1: exit 0:   ibv_close_device, '
expect_out '^-i 9: exit 1: error: device rxe0 has no port 9; its ports are 1 to 1$'
expect_out "^-d nosuch: exit 1: error: no RDMA device is named 'nosuch'; there is: rxe0\$"
expect_out '^--nosuch: exit 2: '

expect_usual_refusals "$program"
