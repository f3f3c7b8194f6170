#!/usr/bin/env bash
# Chapter 09: one message with both of its completions, and four ways to fail with the status and the states after each.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_no_err
# One experiment after the other, each line in its place.
cat >"$WORK/expected" <<'TEXT'
receive of 64 bytes posted, then a message of 26 bytes sent:
  sender   wr_id 2, SUCCESS (0)
  receiver wr_id 1, SUCCESS (0), opcode RECV, byte_len 26
  received: "a message of 26 characters"
  afterwards the sender is in RTS, the receiver in RTS
no receive posted:
  sender   wr_id 2, RNR_RETRY_EXC_ERR (13)
  afterwards the sender is in ERR, the receiver in RTS
receive of 8 bytes posted:
  sender   wr_id 2, REM_OP_ERR (11)
  receiver wr_id 1, LOC_QP_OP_ERR (2)
  afterwards the sender is in ERR, the receiver in ERR
an lkey that no memory region has:
  sender   wr_id 2, LOC_QP_OP_ERR (2)
  afterwards the sender is in ERR, the receiver in RTS
the lkey of a memory region of another protection domain:
  sender   wr_id 2, LOC_QP_OP_ERR (2)
  afterwards the sender is in ERR, the receiver in RTS
TEXT
difference=$(diff "$WORK/expected" "$WORK/out") || wrong "these lines (<) instead of those (>): $difference"

on server "$program" -g 0
expect_status 0
expect_out '^  received: "a message of 26 characters"$'

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

on server "$program" -i 9
expect_status 1
expect_err 'device rxe0 has no port 9; its ports are 1 to 1'

on server "$program" --deadline 0
expect_usage_error 'deadline'

expect_usual_refusals "$program"
