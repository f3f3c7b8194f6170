#!/usr/bin/env bash
# One side of a ping-pong is killed with SIGKILL at 20 different moments, from before its first step to the middle of the
# transfer; ten times the client, ten times the server. The other side must end with exit status 1 within its deadline,
# and say that the peer is silent or gone.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$LAB_ROOT/build/chapters/11-rc-ping-pong
require_device
deadline=3

# pair NAME PORT MOMENT VICTIM: a ping-pong without end; timeout(1) on the victim's host kills it after MOMENT seconds.
pair() {
  local name=$1 port=$2 moment=$3 victim=$4 side prefix server
  for side in server client; do
    prefix=() server=()
    [[ $side != "$victim" ]] || prefix=(timeout --signal=KILL "$moment")
    [[ $side == server ]] || server=(server)
    start "$name.$side" "$side" "${prefix[@]}" "$program" -p "$port" -n 10000000 --deadline $deadline "${server[@]}"
  done
}

# The survivor may need its deadline once for the connection and once for the ping-pong. What exec and the start of the
# program take comes on top.
survivor_ends() {
  local name=$1 began=$2
  finish "$name"
  expect_status 1
  expect_out '^error: .*(the peer is silent|the peer closed the TCP connection|no client came|TCP connection to the peer|ECONNREFUSED)'
  local took=$((SECONDS - began))
  ((took <= $(scaled $((2 * deadline + 20))))) || wrong "an end within the deadline of $deadline s; it took $took s"
}

moments=(0.02 0.05 0.1 0.15 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 1.2 1.4 1.6 1.8 2.0 2.5 3.0)
for batch in 0 5 10 15; do
  began=$SECONDS
  for i in 0 1 2 3 4; do
    number=$((batch + i))
    victim=$([[ $((number % 2)) -eq 0 ]] && echo client || echo server)
    pair "$number" $((18720 + number)) "${moments[number]}" "$victim"
  done
  for i in 0 1 2 3 4; do
    number=$((batch + i))
    survivor=$([[ $((number % 2)) -eq 0 ]] && echo server || echo client)
    victim=$([[ $survivor == server ]] && echo client || echo server)
    survivor_ends "$number.$survivor" "$began"
    finish "$number.$victim"
    expect_status 137
  done
done
