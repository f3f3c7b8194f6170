#!/usr/bin/env bash
# Chapter 03: what lives in a protection domain, EBUSY while it does, and the cost of a pair against that of a poll.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_no_err
expect_out '^two protection domains of one context: A has handle [0-9]+, B has handle [0-9]+$'
expect_out '^memory region made in A: its member pd points to A$'
expect_out "^completion queue: it has no member pd; its member context points to the device's context\$"
expect_out '^ibv_dealloc_pd of B, while the completion queue lives: 0, it is gone$'
expect_out '^ibv_dealloc_pd of A, while the memory region lives: EBUSY \(Device or resource busy\)$'
expect_out '^  A is as it was: a second memory region in it was registered$'
expect_out '^ibv_dealloc_pd of A, after its memory regions: 0, it is gone$'
expect_out '^control path: ibv_alloc_pd and ibv_dealloc_pd, [0-9]+ ns a pair$'
expect_out '^data path: ibv_poll_cq of an empty queue, [0-9]+ ns a call$'
# Hundreds, in every run so far; ten leaves room for a sanitizer and a busy machine.
expect_out '^one pair takes as long as [1-9][0-9]+ polls$'

# Options: the exit status and the last line for each.
# shellcheck disable=SC2016 # expanded on the host
on server sh -c '
  for arguments in "-d rxe0 -i 1" "-i 9" "-d nosuch" "--nosuch"; do
    said=$("$0" $arguments 2>&1)
    echo "$arguments: exit $?: $(printf "%s\n" "$said" | tail -n 1)"
  done' "$program"
expect_out '^-d rxe0 -i 1: exit 0: one pair takes '
expect_out '^-i 9: exit 1: error: device rxe0 has no port 9; its ports are 1 to 1$'
expect_out "^-d nosuch: exit 1: error: no RDMA device is named 'nosuch'; there is: rxe0\$"
expect_out '^--nosuch: exit 2: '

expect_usual_refusals "$program"
