#!/usr/bin/env bash
# Chapter 08: every step with what is read back after it, every mistake with its answer, and back to RESET.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_out '^RESET: QP [1-9][0-9]*, just created$'
for mistake in 'RESET to RTR, a state skipped' 'INIT without IBV_QP_PORT' 'RTR without IBV_QP_RQ_PSN' \
  'RTR with IBV_QP_TIMEOUT, which belongs to RTS' 'RTR on Ethernet without a GRH' 'RTS without IBV_QP_TIMEOUT' 'ERR to RTS'; do
  expect_out "^  mistake: $mistake: EINVAL \(Invalid argument\)\$"
done
expect_no_out 'accepted'
expect_out '^INIT: pkey_index 0, port_num 1, qp_access_flags 0 \(the peer may neither read nor write\)$'
expect_out '^RTR: path_mtu 3 \(1024 bytes\), dest_qp_num [1-9][0-9]*, rq_psn 0x000100$'
expect_out '^     max_dest_rd_atomic 1 \(RDMA reads served at a time\), min_rnr_timer 12 \(0\.64 ms\)$'
expect_out '^     is_global 1, sgid_index 1, hop_limit 64, dgid ::ffff:[0-9.]+$'
expect_out '^RTS: sq_psn 0x000100, timeout 14 \(67\.1 ms\), retry_cnt 7, rnr_retry 7 \(without end\)$'
expect_out '^     max_rd_atomic 1 \(RDMA reads outstanding at a time\)$'
expect_out '^ERR: entered by hand'
expect_no_err
# The states in the order in which they are passed through.
states=$(grep -oE '^(RESET|INIT|RTR|RTS|ERR):' "$WORK/out" | tr -d '\n')
[[ $states == RESET:INIT:RTR:RTS:ERR:RESET:INIT: ]] || wrong "the states RESET INIT RTR RTS ERR RESET INIT, in this order"

on server "$program" -g 0
expect_status 0
expect_out '^     is_global 1, sgid_index 0, hop_limit 64, dgid fe80::'

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

on server "$program" -i 9
expect_status 1
expect_err 'device rxe0 has no port 9; its ports are 1 to 1'

expect_usual_refusals "$program"
