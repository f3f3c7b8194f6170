#!/usr/bin/env bash
# Every lab has all that a lab has: task, in both languages, hints, checks, starter, solution, wrong submissions for each of its
# checks, its line in the top README; what the task says of points is what the judge gives; starter and solution differ inside of
# the steps only.
set -euo pipefail
cd "$LAB_ROOT"
status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}

# headings FILE: the second-level ones outside of code blocks.
headings() { awk '/^```/ { code = !code } !code && sub(/^## /, "")' "$1"; }
# frame FILE: without what is in the steps.
frame() { awk '/^ *\/\/ end of step [0-9]+$/ { inside = 0 } !inside { print } /^ *\/\/ step [0-9]+$/ { inside = 1 }' "$1"; }
# steps FILE: their numbers. The order in which they stand is that of the program, not that of the task.
steps() { sed -nE 's,^ *// step ([0-9]+)$,\1,p' "$1" | sort -n; }

sections=$'The task\nSteps\nWhat is checked\nWhat you learn'
chinese_sections=$'任务\n步骤\n检查项\n学到什么'
count=0
for folder in labs/*/; do
  folder=${folder%/} name=${folder#labs/} number=${name%%-*}
  ((++count))
  [[ -d chapters/$name ]] || wrong "$folder: there is no chapters/$name"
  for file in lab.cpp README.md README.zh-CN.md hints.md checks.cpp starter.inc; do
    [[ -s $folder/$file ]] || { wrong "$folder has no $file"; continue 2; }
  done
  solution=solutions/$name/lab.cpp
  [[ -s $solution ]] || { wrong "there is no $solution"; continue; }

  # The frame.
  for file in "$folder/lab.cpp" "$solution"; do
    head -n 1 "$file" | grep -q "^// Lab $number: " || wrong "$file does not begin with '// Lab $number: '"
    if grep -nE '#include *["<].*tools/' "$file"; then wrong "$file includes something of tools/"; fi
  done
  cmp -s <(frame "$solution") <(frame "$folder/lab.cpp") || {
    wrong "$folder/lab.cpp and $solution differ outside of the steps:"
    diff <(frame "$folder/lab.cpp") <(frame "$solution") || true
  }
  # What git has is the starter, also where somebody is at work on it.
  if committed=$(git show "HEAD:./$folder/lab.cpp" 2>/dev/null); then
    cmp -s <(printf '%s\n' "$committed") <(awk -f tools/judge/compose.awk "$folder/starter.inc" "$solution") ||
      wrong "$folder/lab.cpp is not $solution with the steps of $folder/starter.inc"
  fi
  numbers=$(steps "$solution")
  [[ $numbers == "$(seq 1 "$(wc -l <<<"$numbers")")" && $(wc -l <<<"$numbers") -ge 2 ]] ||
    wrong "$solution: the steps are numbered ${numbers//$'\n'/ }"
  [[ $(steps "$folder/starter.inc") == "$numbers" ]] || wrong "$folder/starter.inc does not have each step once"

  # The page.
  title=$(sed -n "1s/^# Lab $number: //p" "$folder/README.md")
  [[ -n $title ]] || wrong "$folder/README.md: the title does not begin with '# Lab $number: '"
  [[ $(headings "$folder/README.md") == "$sections" ]] || wrong "$folder/README.md: the sections are not"$'\n'"$sections"
  # shellcheck disable=SC2016 # backquotes of Markdown
  cmp -s <(sed -n 's/^| `\([a-z0-9-]*\)` | \([0-9]*\) | \(.*\) |$/\1\t\2\t\3/p' "$folder/README.md") \
    <("build/labs/judge-$number" --list | cut -f 1-3) || {
    wrong "$folder/README.md: its table of checks is not what the judge has:"
    "build/labs/judge-$number" --list
  }
  # In Chinese the same ids and points. What each is about is translated: doc.pairs asks for that when the English has changed.
  head -n 1 "$folder/README.zh-CN.md" | grep -q "^# 实验 $number：." || wrong "$folder/README.zh-CN.md: the title does not begin with '# 实验 $number：'"
  [[ $(headings "$folder/README.zh-CN.md") == "$chinese_sections" ]] || wrong "$folder/README.zh-CN.md: the sections are not"$'\n'"$chinese_sections"
  # shellcheck disable=SC2016 # backquotes of Markdown
  cmp -s <(sed -n 's/^| `\([a-z0-9-]*\)` | \([0-9]*\) | .* |$/\1\t\2/p' "$folder/README.zh-CN.md") \
    <("build/labs/judge-$number" --list | cut -f 1-2) || {
    wrong "$folder/README.zh-CN.md: its table of checks is not what the judge has:"
    "build/labs/judge-$number" --list
  }
  sum=$("build/labs/judge-$number" --list | awk -F '\t' '{ sum += $2 } END { print sum }')
  [[ $sum == 100 ]] || wrong "lab $number has $sum points, not 100"
  ids=$("build/labs/judge-$number" --list | cut -f 1)
  for id in clean sanitized faults; do
    grep -qx "$id" <<<"$ids" || wrong "lab $number has no check '$id'"
  done

  # The hints: three for each step, and each check leads to one.
  for step in $numbers; do
    hints=$(awk -v title="## Step $step" '/^## / { inside = $0 == title; next } inside && sub(/\. .*/, "") && /^[0-9]+$/' "$folder/hints.md")
    [[ $hints == $'1\n2\n3' ]] || wrong "$folder/hints.md has no three hints for step $step"
  done
  [[ $(headings "$folder/hints.md") == "Step ${numbers//$'\n'/$'\n'Step }" ]] || wrong "$folder/hints.md has other sections than the steps"
  while IFS=$'\t' read -r id _ _ step; do
    [[ $id == builds ]] || grep -qx "$step" <<<"$numbers" || wrong "the check '$id' of lab $number leads to step $step, which is not there"
  done < <("build/labs/judge-$number" --list)

  # The wrong submissions.
  wrongs=("$folder"/wrong/*.inc)
  ((${#wrongs[@]} >= 6)) || wrong "$folder/wrong has ${#wrongs[@]} submissions; at least 6 are wanted"
  for file in "${wrongs[@]}" "$folder/starter.inc"; do
    meant=$(sed -nE 's,^// fails: ([a-z0-9-]+)( timeout)?$,\1,p' "$file")
    grep -qx -- "$meant" <<<"$ids" || wrong "$file: '// fails: $meant' names no check of the lab"
  done
  for file in "${wrongs[@]}"; do
    [[ $(head -n 1 "$file") =~ ^//\ .*\ .*[.,:a-z]$ ]] || wrong "$file does not begin with what the mistake is"
  done
  for id in $ids; do
    [[ $id == builds ]] || grep -qsE "^// fails: $id( timeout)?\$" "${wrongs[@]}" || wrong "no wrong submission of lab $number is meant for '$id'"
  done

  for top in README.md README.zh-CN.md; do
    grep -qF "](labs/$name/$top)" "$top" || wrong "$top does not link to labs/$name/$top"
  done
done
((count > 0)) || wrong 'there are no labs'
for file in solutions/*/; do
  [[ -d labs/$(basename "$file") ]] || wrong "$file is the solution of no lab"
done
printf '%s labs\n' "$count"
exit $status
