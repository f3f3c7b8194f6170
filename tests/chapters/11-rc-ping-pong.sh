#!/usr/bin/env bash
# Chapter 11: the ping-pong between two hosts, and each way in which it can fail to come about.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1
require_device

# TCP ports of this test's own, since tests run side by side, and others for the sanitized build.
port=18620
[[ $program != */sanitize/* ]] || port=19620
patience=$(scaled 8) # for a peer that never comes; enough for one that is only slow to start

# both NAME "SERVER'S OPTIONS" "CLIENT'S OPTIONS": starts both sides, each on its host.
both() {
  port=$((port + 1))
  # shellcheck disable=SC2086 # each is several words
  start "$1.server" server "$program" -p $port $2
  # shellcheck disable=SC2086
  start "$1.client" client "$program" -p $port $3 server
}

# stranger NAME 'COMMANDS': on the client's host, a shell whose descriptor 3 is connected to the server that uses $port.
stranger() {
  start "$1.stranger" client \
    bash -c "until { exec 3<>/dev/tcp/server/$port; } 2>/dev/null; do sleep 0.1; done; $2"
}

# went_well BYTES ITERATIONS: what the side has printed that was finished last.
went_well() {
  local address='LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID [0-9a-f:.]+'
  expect_status 0
  expect_out "^local address:  $address\$"
  expect_out "^remote address: $address\$"
  expect_out "^$1 bytes in [0-9]+\.[0-9]{2} seconds = [0-9]+\.[0-9]{2} Mbit/sec\$"
  expect_out "^$2 iters in [0-9]+\.[0-9]{2} seconds = [1-9][0-9]*\.[0-9]{2} usec/iter\$"
  expect_out '^round trip: median [1-9][0-9]*\.[0-9]{2} usec, p99 [1-9][0-9]*\.[0-9]{2} usec$'
  expect_no_out 'error'
}

# These two only wait; what becomes of them is looked at further down. Nobody comes, and somebody says too little.
port=$((port + 1))
start alone.server server "$program" -p $port --deadline "$patience"
port=$((port + 1))
start silent.server server "$program" -p $port --deadline "$patience"
stranger silent "printf '%051d' 0 >&3; cat <&3"

both default '' ''
for side in server client; do
  finish default.$side
  went_well 8192000 1000
done
# Each side shows the other's address as that one shows it itself.
diff <(sed -n 's/^local address:  //p' "$WORK/default.server") <(sed -n 's/^remote address: //p' "$WORK/default.client")
diff <(sed -n 's/^local address:  //p' "$WORK/default.client") <(sed -n 's/^remote address: //p' "$WORK/default.server")

# The smallest message, with each receive posted again at once; a large one of many packets, its payload verified.
both small '-s 1 -n 100 -r 1' '-s 1 -n 100 -r 1 -d rxe0 -i 1 -g 1'
both large '-s 65536 -n 20 --chk' '-s 65536 -n 20 --chk'
for side in server client; do
  finish small.$side
  went_well 200 100
  finish large.$side
  went_well 2621440 20
done

finish alone.server
expect_status 1
expect_out '^error: no client came before the deadline$'
finish silent.server
expect_status 1
expect_out "^error: the peer is silent: 51 of 52 bytes of the client's address record came before the deadline\$"

# The TCP port is busy while another server waits there. That one gets a client that is none.
port=$((port + 1))
start text.server server "$program" -p $port
wait_for text.server '^local address:'
on server "$program" -p $port
expect_status 1
expect_err "bind: EADDRINUSE .*, TCP port $port\. Likely: .*choose another one with -p"
stranger text "printf 'GET / HTTP/1.1\r\nHost: server\r\nUser-Agent: a stranger\r\n\r\n' >&3; cat <&3"
port=$((port + 1))
start short.server server "$program" -p $port
stranger short "printf '0000:000011:8a1b2c' >&3"
on client "$program" -p 1 --deadline "$(scaled 2)" server
expect_status 1
expect_err '^error: connect: ECONNREFUSED .*, server server, TCP port 1\. Likely: .*start the server first'
finish text.server
expect_status 1
expect_out "^error: the peer's address record is garbled: byte 0 is 0x47, expected a hexadecimal digit of the LID"
finish short.server
expect_status 1
expect_out "^error: the peer closed the TCP connection after 18 of 52 bytes of the client's address record"

# Two sides that do not agree.
both count "-n 20 --deadline $patience" '-n 10'
both longer '-s 64' '-s 4096'
both shorter '-s 4096' "-s 64 --deadline $patience"
finish count.client
expect_status 0
finish count.server
expect_status 1
expect_out "^error: the peer is silent: waited $patience s for the next message\. Is it dead, or .*another -n or -s\?\$"
finish longer.server # its receives are too small
expect_status 1
expect_out '^error: completion with LOC_QP_OP_ERR \(2\), wr_id 1, .*a receive that is too small'
finish longer.client
expect_status 1
expect_out '^error: completion with REM_OP_ERR \(11\), wr_id 2, .*its receive is too small'
finish shorter.server
expect_status 1
expect_out '^error: a message of 64 bytes came, expected 4096: start both sides with the same -s$'
finish shorter.client
expect_status 1
expect_out "^error: the peer is silent: waited $patience s"

# refused ERROR OPTIONS...: a server that does not start.
refused() {
  on server "$program" "${@:2}"
  expect_status 1
  expect_err "^error: $1"
  expect_no_out .
}
refused "no RDMA device is named 'nosuch'; there is: rxe0" -d nosuch
refused 'device rxe0 has no port 9; its ports are 1 to 1' -i 9
refused 'the GID table is empty at index 99; filled: 0 1' -g 99
refused "-s 2147483648 is above the port's max_msg_sz, [0-9]+ bytes" -s 2147483648
refused 'a path MTU of 4096 bytes is above the active MTU of port 1, 1024 bytes: .* Use -m 1024 or less' -m 4096
mapfile -d '' alone < <(without_devices "$program")
on server "${alone[@]}"
expect_status 1
expect_err 'this machine has no RDMA device.*doctor'

# One command for the three that never look for a device.
# shellcheck disable=SC2016 # expanded on the host
on server sh -c 'for size in 0 2147483649 4k; do "$0" -s $size; echo "$size: $?"; done' "$program"
for size in 0 2147483649 4k; do
  expect_out "^$size: 2\$"
done
expect_err '--size'
