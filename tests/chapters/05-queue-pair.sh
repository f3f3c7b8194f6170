#!/usr/bin/env bash
# Chapter 05: capabilities, types, the first state, and every limit refused by name.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_out '^ +asked +granted +queried$'
expect_out '^max_send_wr +100 +100 +127$'
expect_out '^max_recv_wr +100 +100 +127$'
expect_out '^max_send_sge +2 +4 +4$'
expect_out '^max_recv_sge +1 +1 +1$'
expect_out '^max_inline_data +64 +64 +64$'
for type in RC UC UD; do
  expect_out "^  $type +QP number 0x[0-9a-f]{6}, state RESET$"
done
for type in RAW_PACKET XRC_SEND; do
  expect_out "^  $type +EOPNOTSUPP \(Operation not supported\)$"
done
for field in max_send_wr max_recv_wr; do
  expect_out "^  $field 1048577 is above max_qp_wr 1048576: EINVAL \(Invalid argument\)$"
done
expect_out '^  max_send_sge 33 is above max_sge 32: EINVAL \(Invalid argument\)$'
expect_out '^  max_inline_data 512 is granted, 513: EINVAL \(Invalid argument\)$'
expect_out '^a field not set, max_inline_data is 2779096485 by chance: EINVAL \(Invalid argument\)$'
expect_out '^both queues  128 deep: +[1-9][0-9]* KiB, created in [0-9]+\.[0-9] ms \(median\)$'
expect_out '^both queues 4096 deep: +[1-9][0-9]* KiB, created in [0-9]+\.[0-9] ms \(median\)$'
expect_no_out 'granted$'
expect_no_err

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

on server "$program" -i 9
expect_status 1
expect_err 'device rxe0 has no port 9; its ports are 1 to 1'

expect_usual_refusals "$program"
