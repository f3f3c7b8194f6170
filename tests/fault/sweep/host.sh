#!/usr/bin/env bash
# Runs on a host: the items of a list, several at a time. Starts no process but the programs themselves, since that is what
# takes most of the time on an emulated host.
#
# host.sh LIBRARY PROGRAMS FOLDER LIST FIRST-PORT LIMIT PATIENCE: FOLDER has the LIST, and gets traces. An item is a line:
# name, program, side ("alone", "server" or "client"), failure for --fail, and "trace" or "-". Of each item is written to
# files LIST.out.*
#   === NAME STATUS STATUS-OF-PEER
# and what it said on standard error; its lines of the trace about what has failed begin with "trace:".
library=$1 programs=$2 folder=$3 list=$4 first_port=$5 limit=$6 patience=$7 workers=6

# begin PROGRAM [ARGUMENT...]: in the background, under the checker when FAIL or TRACE is set, with standard error to be
# read from $descriptor. The program is $!.
begin() {
  exec {descriptor}< <(
    if [[ -n $FAIL$TRACE ]]; then
      export LD_PRELOAD=$library VERBS_CHECK_PLACES=raw VERBS_CHECK_FAIL=$FAIL VERBS_CHECK_TRACE=$TRACE
    fi
    exec "$@" 2>&1 >/dev/null </dev/null)
}

# end DESCRIPTOR PID: waits for it; $text is what it said. A program that takes longer than the limit is killed.
end() {
  local result=0 read_from=$1
  IFS= read -r -d '' -t "$limit" -u "$1" text || result=$?
  if ((result > 128)); then
    kill -KILL "$2"
    text+="it takes longer than $limit s"$'\n'
  fi
  status=0
  wait "$2" || status=$?
  exec {read_from}<&-
}

# play NAME PROGRAM SIDE FAILURE TRACE: runs one item, and its peer where it has one.
play() {
  local name=$1 program=$programs/$2 side=$3 fail=$4 trace=$5 peer='' peer_status=- words=() peer_words=() own other
  if [[ $side != alone ]]; then
    ((++port))
    words=(-p "$port" --deadline "$((3 * patience))")
    peer_words=(-p "$port" --deadline "$patience")
    [[ $2 != 11-* ]] || { words+=(-s 64 -n 2 -r 3) peer_words+=(-s 64 -n 2 -r 3); }
    if [[ $side == server ]]; then peer_words+=(127.0.0.1); else words+=(127.0.0.1); fi
    FAIL='' TRACE='' begin "$program" "${peer_words[@]}"
    other=$descriptor peer=$!
  fi
  FAIL=$fail TRACE=$trace begin "$program" "${words[@]}"
  own=$descriptor
  end "$own" $!
  local own_text=$text own_status=$status
  if [[ -n $peer ]]; then
    end "$other" "$peer"
    peer_status=$status
    own_text+=${text//error:/peer:}
  fi
  printf '=== %s %s %s\n%s' "$name" "$own_status" "$peer_status" "$own_text"
  status=$own_status
}

# What --fail has failed is the call with this verb, and this number or, of ibv_poll_cq, its negative.
print_failed() {
  local line
  while IFS= read -r line; do
    [[ $line != *"\"verb\":\"$2\""* || $line == *'"result":0,'* ]] || printf 'trace:%s\n' "$line"
  done <"$1"
}

# How many polls a run makes is not known before: 1, 1000, 1000000 ... until there are not that many.
play_polls() {
  local name=$1 n trace=$scratch/polls.$port
  for ((n = 1; ; n *= 1000)); do
    play "$name:$n" "$2" "$3" "ibv_poll_cq:$n=EIO" "" >"$trace.out"
    if ((status == 0)); then
      # Was there no such poll, or did nobody look at its result?
      : >"$trace"
      play "$name:$n" "$2" "$3" "ibv_poll_cq:$n=EIO" "$trace" >"$trace.out"
      if ((status == 0)) && ! grep -qE '"verb":"ibv_poll_cq".*"result":-' "$trace"; then return; fi
    fi
    printf '%s\n' "$(<"$trace.out")"
  done
}

work() {
  local worker=$1 name program side fail trace number=0
  port=$((first_port + 500 * worker))
  while read -r name program side fail trace; do
    ((number++ % workers == worker)) || continue
    if [[ $fail == polls ]]; then
      play_polls "$name" "$program" "$side"
    elif [[ $trace == trace ]]; then
      : >"$scratch/trace.$worker"
      play "$name" "$program" "$side" "$fail" "$scratch/trace.$worker"
      print_failed "$scratch/trace.$worker" "${fail%%[:=]*}"
    elif [[ $fail == - ]]; then
      play "$name" "$program" "$side" "" "$folder/$name.jsonl"
    else
      play "$name" "$program" "$side" "$fail" ""
    fi
  done <"$folder/$list"
}

scratch=$(mktemp -d)
# In memory: through the file system that the machine shares with this host each start would read them anew.
cp "$library" "$programs"/[0-9]* "$scratch"
library=$scratch/${library##*/} programs=$scratch
for ((worker = 0; worker < workers; ++worker)); do
  work "$worker" >"$folder/$list.out.$worker" &
done
wait
rm -r "$scratch"
