#!/usr/bin/env bash
# Every finding has a program that makes just this mistake: the checker finds it, where it is, and nothing else; in the
# corrected twin it finds nothing, and the twin runs as it does without the checker. What the page of the finding shows is
# what the checker prints.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device

check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
mapfile -t ids < <(cd "$LAB_ROOT/tests/verbs-check/programs" && printf '%s\n' *.cpp | sed 's/\.cpp$//')
failed=0
fault() {
  printf '%s\n' "$@"
  failed=1
}

# Options of verbs-check that a program wants stand in its head comment: "// run: --strict"; "// run wrong: OPTIONS" is for
# the wrong program alone, not for its twin.
options_of() { sed -n "s,^// $2: ,,p" "$LAB_ROOT/tests/verbs-check/programs/$1.cpp"; }
mapfile -t runs < <(for id in "${ids[@]}"; do echo "$id|$(options_of "$id" run)|$(options_of "$id" 'run wrong')"; done)

# runs HOST RUN...: each of these programs in each mode, all in one go; a line "=== ID MODE STATUS" ends the output of each.
runs() {
  local host=$1
  shift
  # shellcheck disable=SC2016 # expanded on the host
  start "$host" "$host" "$check" -- bash -c '
    check=$1 programs=$2
    shift 2
    # Under the checker that is there already, or with options under one of its own.
    watched() {
      if [[ -z $2 ]]; then "$1"; else LD_PRELOAD= "$check" $2 -- "$1"; fi
    }
    for run; do
      IFS="|" read -r id options wrong <<<"$run"
      for mode in wrong twin plain; do
        case $mode in
          wrong) watched "$programs/check-$id" "$options${wrong:+ $wrong}" ;;
          twin) watched "$programs/check-$id-corrected" "$options" ;;
          plain) LD_PRELOAD= "$programs/check-$id-corrected" ;;
        esac 2>&1
        printf "=== %s %s %s\n" "$id" "$mode" "$?"
      done
    done' bash "$check" "$programs" "$@"
}
# Half of them on each host; those about rdma_cm on the one whose address the pages show.
server=() client=()
for run in "${runs[@]}"; do
  if [[ $run == cm-* ]] || ((${#server[@]} < ${#client[@]})); then server+=("$run"); else client+=("$run"); fi
done
runs server "${server[@]}"
runs client "${client[@]}"
for host in server client; do
  finish $host
  expect_status 0
  awk -v work="$WORK/" '
    /^=== / { print $4 >(work $2 "." $3 ".status"); printf "%s", text >(work $2 "." $3); text = ""; next }
    { text = text $0 "\n" }' "$WORK/out"
done

for id in "${ids[@]}"; do
  source=$LAB_ROOT/tests/verbs-check/programs/$id.cpp
  [[ -e $WORK/$id.plain ]] || wrong "a run of check-$id"
  # Exactly the findings of the marked lines, and this one once. There is another only where this one cannot be without it.
  marks=$(sed -nE "/\/\/ here: [a-z-]+\$/{=;s,.*// here: ,,p}" "$source" |
    while read -r line && read -r mark; do printf '%s main, %s.cpp:%s\n' "$mark" "$id" "$line"; done)
  [[ $(grep -c "^$id " <<<"$marks") == 1 ]] || fault "$id.cpp: not one line ends with '// here: $id'"
  wrong=$WORK/$id.wrong
  found=$(sed -n 's/^verbs-check: \[\([^]]*\)\].*/\1/p' "$wrong" | paste -d ' ' - <(sed -n 's/^verbs-check:   where:   //p' "$wrong"))
  if [[ $found != "$marks" ]]; then
    fault "check-$id: wanted" "$marks" "and it printed"
    sed 's/^/  /' "$wrong"
  fi
  # Nothing at all in the twin, and nothing changed.
  if ! cmp -s "$WORK/$id.plain" "$WORK/$id.twin" || ! cmp -s "$WORK/$id.plain.status" "$WORK/$id.twin.status"; then
    fault "check-$id-corrected: with the checker (exit status $(<"$WORK/$id.twin.status")) it prints"
    sed 's/^/  /' "$WORK/$id.twin"
    printf 'and without (exit status %s)\n' "$(<"$WORK/$id.plain.status")"
    sed 's/^/  /' "$WORK/$id.plain"
  fi
  [[ $(<"$WORK/$id.plain.status") == 0 ]] || fault "check-$id-corrected ends with $(<"$WORK/$id.plain.status")"
  # Its page shows the finding as it is printed, the summary line apart.
  page=$LAB_ROOT/docs/verbs-check/$id.md
  if [[ ! -e $page ]]; then
    fault "there is no docs/verbs-check/$id.md"
  elif ! diff -u <(awk '/^```/ { inside = !inside && $0 == "```text"; next } inside' "$page") \
    <(grep '^verbs-check:' "$wrong" | grep -v 'finding(s)$') >"$WORK/diff"; then
    fault "docs/verbs-check/$id.md shows another finding than is printed (+)"
    sed 's/^/  /' "$WORK/diff"
  fi
done
printf '%s programs and their twins\n' "${#ids[@]}"
exit $failed
