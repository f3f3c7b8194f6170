#!/usr/bin/env bash
# The judge of a lab is judged: the solution passes everything; the starter, and each wrong submission, fails just the check that
# its head names ("// fails: ID", or "// fails: ID timeout") and passes, or skips, all others; what a head quotes ("// seen: TEXT")
# is in the message. One that waits in vain says "// waits: WHY", and is not given long. Then submissions that have nothing to do
# with the task: hostile/*.cpp.
#
# lab.sh NAME [VARIANT...]: all of them unless named.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }
LAB_STATE=${LAB_STATE:-$LAB_ROOT/.lab}
for part in lib place labs testbed/testbed; do
  # shellcheck source=/dev/null # part by part
  . "$LAB_ROOT/tools/$part.sh"
done

name=$1 number=${1%%-*}
shift
folder=$LAB_ROOT/labs/$name
variants=("$@")
if [[ ${#variants[@]} -eq 0 ]]; then
  variants=(solution starter)
  for file in "$folder"/wrong/*.inc; do variants+=("$(basename "$file" .inc)"); done
  # What these do has nothing to do with the task: each lab gets a quarter of them, and each of them some labs.
  # ./lab test --full: all of them, with each lab.
  at=0
  for file in "$LAB_ROOT"/tests/labs/hostile/*.cpp; do
    if [[ -n ${LAB_FULL-} ]] || (((at++ + 10#$number) % 4 == 0)); then variants+=("hostile-$(basename "$file" .cpp)"); fi
  done
fi

# head VARIANT WORD: what its head says after "// WORD: ".
head_of() {
  local file
  case $1 in
    solution) return 0 ;;
    starter) file=$folder/starter.inc ;;
    hostile-*) file=$LAB_ROOT/tests/labs/hostile/${1#hostile-}.cpp ;;
    *) file=$folder/wrong/$1.inc ;;
  esac
  sed -n "s,^// $2: ,,p" "$file"
}

# orders VARIANT...: what the judge is told, a line each; the verdicts of VARIANT go to $WORK/VARIANT.json, and what would be
# printed to $WORK/VARIANT.
orders() {
  local variant program longest
  for variant; do
    program=lab-$number-$variant longest=3600000
    if [[ $variant == hostile-* ]]; then program=$variant; fi
    # What has to be seen of one that waits for ever is that it does. Where others have to wait a moment, that is longer.
    case $(head_of "$variant" fails) in
      silence\ timeout) longest=2500 ;;
      *timeout) longest=1000 ;;
      *) [[ -z $(head_of "$variant" waits) ]] || longest=2500 ;;
    esac
    # A program that is not there would fail as a wrong one does. The sanitized build has those that get so far.
    if [[ ! -x $LAB_ROOT/build/labs/$program ]] ||
      [[ $(head_of "$variant" fails) =~ ^(sanitized|faults|)$ && $variant != hostile-* && ! -x $LAB_ROOT/build/sanitize/labs/$program ]]; then
      printf '%s was not built\n' "$program" >"$WORK/$variant"
      continue
    fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$LAB_ROOT/build/labs/$program" "$LAB_ROOT/build/sanitize/labs/$program" "$longest" \
      "$WORK/$variant.json" "$WORK/$variant"
  done
}

# One at a time on each host: more would only take its memory from each other. Other tests run beside this one: patience
# costs only where something hangs.
workers=2
for ((worker = 0; worker < workers; ++worker)); do
  mine=()
  for ((at = worker; at < ${#variants[@]}; at += workers)); do mine+=("${variants[at]}"); done
  if ((worker % 2)); then host=client; else host=server; fi
  orders ${mine[@]+"${mine[@]}"} >"$WORK/orders.$host"
  LAB_TIME_SCALE=$((2 * ${LAB_TIME_SCALE:-1})) labs_judge "$number" "$host" --alone --all "$WORK/orders.$host" || true &
done
wait

failed=0
for variant in "${variants[@]}"; do
  # check status, a line each, without those that passed or were skipped
  found=$(jq -r '.checks[] | select(.status | IN("pass", "skip") | not) | "\(.id) \(.status)"' "$WORK/$variant.json" 2>&1) || true
  skipped=$(jq -r '.checks[] | select(.status == "skip") | .id' "$WORK/$variant.json" 2>&1) || true
  fails=$(head_of "$variant" fails) seen=$(head_of "$variant" seen)
  case $variant in
    solution) expected='' ;;
    hostile-*) # the first check of the lab, the only one that needs no other
      expected=$(jq -r '.checks[1].id' "$WORK/$variant.json" 2>&1)
      expected+=" ${fails:-fail}"
      if [[ $(grep -c . <<<"$skipped") -ne $(jq '.checks | length - 2' "$WORK/$variant.json") ]]; then found+=" and not all others skipped"; fi
      ;;
    *) expected=$fails; [[ $expected == *' timeout' ]] || expected+=' fail' ;;
  esac
  if [[ $found != "$expected" || ($variant == solution && -n $skipped) ]] ||
    { [[ -n $seen ]] && ! jq -r '.checks[].message' "$WORK/$variant.json" | grep -qF -- "$seen"; }; then
    printf '%s: expected to fail: %s%s; it fails: %s\n' "$variant" "${expected:-nothing}" "${seen:+, with \"$seen\"}" "${found:-nothing}"
    sed 's/^/  /' "$WORK/$variant"
    failed=1
  fi
done
printf '%s submissions judged\n' "${#variants[@]}"
exit $failed
