#!/usr/bin/env bash
# Each call of a verb fails once, in every chapter: the chapter says so with the verb and the errno, ends with exit status 1,
# and has released what can be released, in an allowed order. Its peer, where it has one, notices too.
#
# A clean run with --trace lists the calls; then for each call one run with --fail. Of a verb that is called at one place
# more than four times it is the first, the second, the middle and the last call; of ibv_poll_cq, whose calls differ in
# number from run to run, it is 1, 1000, 1000000. Chapters 10 and 11 play both sides on one host, each side in turn with a clean peer. LeakSanitizer is not needed: the checker says what leaks.
. "${LAB_ROOT:?}/tests/lib.sh"
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }
require_device
sweep=$LAB_ROOT/tests/fault/sweep
folder=$(mktemp -d "$LAB_ROOT/build/tests/sweep.XXXXXX") # below the checkout, where a host can write
trap 'clean_up "$folder"' EXIT

# What a verb may well fail with. EIO is what every one answers whose adapter has gone away; it is never what a chapter
# that shows refusals expects.
code_of() {
  case $1 in
    ibv_alloc_pd | ibv_reg_mr | ibv_post_*) printf 'ENOMEM\t12\n' ;;
    *) printf 'EIO\t5\n' ;;
  esac
}

# on_both NAME LIMIT PATIENCE: the lists NAME.server and NAME.client, each on its host; what the runs printed is in
# $folder/NAME. A program may take LIMIT seconds; a peer waits for PATIENCE seconds.
on_both() {
  local host port=19000
  for host in server client; do
    start "$1.$host" "$host" bash "$sweep/host.sh" \
      "$LAB_ROOT/build/tools/verbs-check/libverbs-check.so" "$LAB_ROOT/build/chapters" "$folder" "$1.$host" $port \
      "$(scaled "$2")" "$(scaled "$3")"
    port=$((port + 3000))
  done
  for host in server client; do
    finish "$1.$host"
    expect_status 0
    expect_no_out .
  done
  cat "$folder/$1".*.out.* >"$folder/$1"
}

# shared: splits a list from standard input between the hosts.
shared() { awk -v list="$folder/$1." '{ print >(list (NR % 2 ? "server" : "client")) }'; }

# The programs and their sides, those that run longest first.
items=()
for number in 03 06 11 10 09 07 05 04 08 02 01; do
  program=$(basename "$LAB_ROOT"/chapters/"$number"-*)
  case $number in
    10 | 11) items+=("$program server" "$program client") ;;
    *) items+=("$program alone") ;;
  esac
done

# name<TAB>program<TAB>side<TAB>verb<TAB>code<TAB>number<TAB>trace<TAB>stays<TAB>needs: what the judge wants to know.
for item in "${items[@]}"; do
  read -r program side <<<"$item"
  printf '%s.%s %s %s - -\n' "$program" "$side" "$program" "$side"
done >"$folder/items"
shared clean <"$folder/items"
on_both clean 60 20

declare -A seen
while read -r name program side _; do
  printf '%s\t%s\t%s\n' "$name" "$program" "$side" >>"$folder/expected"
  printf '%s.ibv_poll_cq\t%s\t%s\tibv_poll_cq\tEIO\t5\t-\t-\tmay\n' "$name" "$program" "$side" >>"$folder/expected"
  printf '%s.ibv_poll_cq %s %s polls -\n' "$name" "$program" "$side" >>"$folder/polls"
  jq -nrf "$sweep/calls.jq" "$folder/$name.jsonl" >"$folder/calls"
  while IFS=$'\t' read -r verb n stays needs; do
    code=$(code_of "$verb")
    # The first call of a verb, wherever that is: the trace must have it.
    traced=-
    [[ $n -ne 1 || -n ${seen[$verb]-} ]] || traced=trace
    seen[$verb]=1
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name.$verb:$n" "$program" "$side" "$verb" "$code" "$traced" "$stays" "$needs" >>"$folder/expected"
    printf '%s %s %s %s %s\n' "$name.$verb:$n" "$program" "$side" "$verb:$n=${code%%$'\t'*}" "$traced" >>"$folder/fails"
  done <"$folder/calls"
done <"$folder/items"
# The longest first; then by verb, so that a chapter which waits for its peer has others beside it.
{ cat "$folder/polls"; sort -t . -k 3 "$folder/fails"; } | shared failing
on_both failing 20 3

COMMAND="the sweep" STATUS=0
awk -f "$sweep/judge.awk" "$folder/expected" "$folder/clean" "$folder/failing" >"$WORK/out" || STATUS=$?
expect_status 0
# Each of them was run, and the polls on top.
[[ $(grep -c . "$folder/fails") -le $(grep -c '^=== ' "$folder/failing") ]] || wrong "as many runs as there are calls"
cat "$WORK/out"
