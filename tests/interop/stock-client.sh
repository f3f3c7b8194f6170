#!/usr/bin/env bash
# ibv_rc_pingpong as client against our server, for sizes below, at and above one packet.
. "$LAB_ROOT/tests/lib.sh"
program=$LAB_ROOT/build/chapters/11-rc-ping-pong
require_device

port=18710
for size in 1 64 1024 4096 65536; do
  port=$((port + 1))
  start ours server "$program" -p $port -s $size -n 100 --chk
  wait_for ours '^local address:' # the stock client does not try again
  start stock client ibv_rc_pingpong -g 1 -p $port -s $size -n 100 server
  finish stock
  expect_status 0
  expect_out '^100 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$'
  finish ours
  expect_status 0
  expect_out '^100 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$'
  expect_out '^round trip: median [0-9.]+ usec, p99 [0-9.]+ usec$'
done
