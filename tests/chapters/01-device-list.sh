#!/usr/bin/env bash
# Chapter 01: the list, choosing by name, and what is said when there is nothing to choose.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

on server "$program"
expect_status 0
expect_out '^RDMA devices: 1$'
expect_out '^  rxe0 +node GUID [0-9a-f]{4}(:[0-9a-f]{4}){3}  InfiniBand transport$'
expect_no_out 'chosen'
expect_no_err

on server "$program" --ib-dev rxe0
expect_status 0
expect_out '^chosen by name: rxe0$'

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

expect_usual_refusals "$program"
