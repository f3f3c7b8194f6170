#!/usr/bin/env bash
# Our client against ibv_rc_pingpong as server, for sizes below, at and above one packet.
. "$LAB_ROOT/tests/lib.sh"
program=$LAB_ROOT/build/chapters/11-rc-ping-pong
require_device

port=18700
for size in 1 64 1024 4096 65536; do
  port=$((port + 1))
  start stock server ibv_rc_pingpong -g 1 -p $port -s $size -n 100
  start ours client "$program" -p $port -s $size -n 100 --chk server
  finish ours
  expect_status 0
  expect_out '^local address:  LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID ::ffff:192\.0\.2\.2$'
  expect_out '^remote address: LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID ::ffff:192\.0\.2\.1$'
  expect_out '^100 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$'
  finish stock
  expect_status 0
  expect_out '^100 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$'
done
