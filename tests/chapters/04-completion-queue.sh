#!/usr/bin/env bash
# Chapter 04: sizes, limits, the empty poll, and an overrun beside the same load in a CQ that is large enough.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_out '^entries asked and granted:  1 -> 1  16 -> 31  100 -> 127  1024 -> 2047$'
expect_out '^for 2 QPs of 64 \+ 128 and 64 \+ 512 requests: asked 768, granted 1023$'
expect_out '^  0 entries: EINVAL \(Invalid argument\)$'
expect_out '^  32768 entries, max_cqe is 32767: EINVAL \(Invalid argument\)$'
expect_out '^  comp_vector ([0-9]+), num_comp_vectors is \1: EINVAL \(Invalid argument\)$'
expect_out '^polling an empty CQ: 0, in [1-9][0-9]* ns \(median\)$'
expect_out '^11 requests complete before anybody polls:$'
expect_out '^  CQ of 15 entries: 11 completions, 0 lost, IBV_EVENT_CQ_ERR 0 times; polled once more: 0$'
expect_out '^  CQ of 3 entries: 3 completions, 8 lost, IBV_EVENT_CQ_ERR 8 times; polled once more: 0$'
expect_no_out 'granted$'
expect_no_err

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

on server "$program" -i 9
expect_status 1
expect_err 'device rxe0 has no port 9; its ports are 1 to 1'

expect_usual_refusals "$program"
