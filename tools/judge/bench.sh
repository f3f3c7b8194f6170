#!/usr/bin/env bash
# How long it takes from saving a one-line edit of a lab to the verdict, with ./lab watch and warm hosts: bench.sh [RUNS] [NN...]
# The edits are made in the solution, so everything is judged. The goals are for two cores without KVM and nothing else to do.
set -euo pipefail
LAB_ROOT=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
LAB_ROOT=$(readlink -f "$LAB_ROOT")
export LAB_ROOT
runs=${1:-5}
shift || true
[[ $# -gt 0 ]] || set -- 03 09
# shellcheck source=tests/labs/copy.sh
. "$LAB_ROOT/tests/labs/copy.sh"
copy_of_labs
watch=
# What watch has begun in the background may write for a moment yet.
trap '[[ -z $watch ]] || kill "$watch" 2>/dev/null; rm -rf "$copy" "$LAB_VERDICTS" 2>/dev/null || { sleep 5; rm -rf "$copy" "$LAB_VERDICTS"; }' EXIT

# verdicts: how many there have been.
verdicts() { grep -c 'points, passed$' "$copy/watch" || true; }

for number; do
  folders=("$copy"/labs/"$number"-*)
  name=$(basename "${folders[0]}")
  cp "$copy/solutions/$name/lab.cpp" "$copy/labs/$name/lab.cpp"
  : >"$copy/watch"
  "$copy/lab" watch "$number" >"$copy/watch" 2>&1 </dev/null &
  watch=$!
  until [[ $(verdicts) -eq 1 ]]; do sleep 0.2; done # the first one builds the judge, and starts the hosts
  times=()
  for ((run = 1; run <= runs; ++run)); do
    sleep 2
    start=$(date +%s%N)
    printf '// edit %s\n' "$run" >>"$copy/labs/$name/lab.cpp"
    until [[ $(verdicts) -gt $run ]]; do sleep 0.02; done
    times+=($((($(date +%s%N) - start) / 1000000)))
  done
  kill "$watch"
  wait "$watch" 2>/dev/null || true
  watch=
  mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
  case $number in 03) goal=3000 ;; *) goal=5000 ;; esac
  printf 'lab %s: from saving to the verdict: median %s ms, from %s to %s ms, %s runs (goal: %s ms)\n' "$number" \
    "${times[runs / 2]}" "${times[0]}" "${times[runs - 1]}" "$runs" "$goal"
done
"$LAB_ROOT/lab" status | sed 's/^/on: /'
