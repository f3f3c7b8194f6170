#!/usr/bin/env bash
# Chapter 10: two programs on two hosts tell each other their addresses, and swap a message.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

# TCP ports of this test's own, since tests run side by side, and others for the sanitized build.
port=18610
[[ $program != */sanitize/* ]] || port=19610

# shown LINE SIDE: what the side printed behind "LINE ".
shown() { sed -n "s/^$1 *//p" "$WORK/$2"; }

# as_record ADDRESS: what the record of an address has to begin with.
as_record() { sed -E 's/^LID 0x(.{4}), QPN 0x(.{6}), PSN 0x(.{6}), .*/\1:\2:\3:/' <<<"$1"; }

start server server "$program" -p $port
start client client "$program" -p $port server
for side in server client; do
  finish $side
  expect_status 0
  for end in local remote; do
    expect_out "^$end +address: LID 0x[0-9a-f]{4}, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID [0-9a-f:.]+\$"
  done
  expect_out "^local  record:  [0-9a-f]{4}:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{32}\$"
  expect_out "^local  record:  $(as_record "$(shown 'local  address:' $side)")"
  expect_no_out error
done
expect_out '^received 22 bytes: "the server has seen it"$'
finish server
expect_out '^received 19 bytes: "the client was here"$'
# Each side has the other's address as that one knows it.
[[ $(shown 'remote address:' server) == "$(shown 'local  address:' client)" ]] || wrong "the client's address"
[[ $(shown 'local  address:' server) == "$(shown 'remote address:' client)" ]] || wrong "the server's address"

# The record is ibv_rc_pingpong's: that tool is a peer as good as any. Its one message is 64 bytes of '{'.
port=$((port + 1))
start server server "$program" -p $port
wait_for server '^local  record:'
start stock client ibv_rc_pingpong -g 1 -p $port -s 64 -n 1 server
finish stock
expect_status 0
finish server
expect_status 0
expect_out '^received 64 bytes: "\{{64}"$'

# stranger FORMAT ERROR: a client that is none. What printf(1) makes of FORMAT is all that it says.
stranger() {
  port=$((port + 1))
  start server server "$program" -p $port
  start stranger client \
    bash -c "until { exec 3<>/dev/tcp/server/$port; } 2>/dev/null; do sleep 0.1; done; printf '$1' >&3"
  finish server
  expect_status 1
  expect_out "^error: $2"
}
stranger '0000;000011:8a1b2c:%032d\0' "the peer's record is garbled: a separator is missing"
stranger '0000:0x0011:8a1b2c:%032d\0' "the peer's record is garbled at byte 5"
stranger '0000:000011:' "the peer closed the TCP connection after 12 of 52 bytes of the client's record"

on client "$program" -p 1 --deadline "$(scaled 2)" server
expect_status 1
expect_err '^error: connect: ECONNREFUSED .*start the server first'

on server "$program" -d nosuch
expect_status 1
expect_err "no RDMA device is named 'nosuch'; there is: rxe0"

on server "$program" -i 9
expect_status 1
expect_err 'device rxe0 has no port 9; its ports are 1 to 1'

expect_usual_refusals "$program"
