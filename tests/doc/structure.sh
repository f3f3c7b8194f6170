#!/usr/bin/env bash
# Every chapter has its program, its page with all sections, its test, and its line in the top README, in both languages.
set -euo pipefail

cd "$LAB_ROOT"
status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}

sections=$'The problem\nThe verbs\nThe code\nWhat the run prints\nPitfalls\nQuestions\nNext'
longest_program=240

# headings FILE: the second-level ones outside of code blocks.
headings() { awk '/^```/ { code = !code } !code && sub(/^## /, "")' "$1"; }

for folder in chapters/*/; do
  folder=${folder%/}
  name=${folder##*/}
  [[ $name =~ ^[0-9]{2}-[a-z0-9-]+$ ]] || wrong "$folder: the name is not NN-words"
  if [[ -e $folder/main.cpp ]]; then
    lines=$(wc -l <"$folder/main.cpp")
    ((lines <= longest_program)) || wrong "$folder/main.cpp has $lines lines; a chapter has at most $longest_program"
    if grep -nE '#include *["<].*tools/' "$folder/main.cpp"; then wrong "$folder/main.cpp includes something of tools/"; fi
    grep -q "^// $name: " "$folder/main.cpp" || wrong "$folder/main.cpp does not begin with what it shows (// $name: ...)"
  else
    wrong "$folder has no main.cpp"
  fi
  [[ -e tests/chapters/$name.sh ]] || wrong "$folder has no test: tests/chapters/$name.sh"
  page=$folder/README.md
  if [[ -e $page ]]; then
    [[ $(head -n 1 "$page") == "# ${name%%-*} "* ]] || wrong "$page: the title does not begin with '# ${name%%-*} '"
    have=$(headings "$page")
    [[ $have == "$sections" ]] || wrong "$page: the sections are"$'\n'"$have"$'\n'"and should be"$'\n'"$sections"
    questions=$(awk '/^## /{ inside = $0 == "## Questions" } inside && /^<details>/' "$page" | wc -l)
    ((questions == 3)) || wrong "$page: there are $questions questions (<details>), not 3"
    grep -q '^```console$' "$page" || wrong "$page shows no run (no console block)"
  else
    wrong "$folder has no README.md"
  fi
  for top in README.md README.zh-CN.md; do
    grep -qsF "](chapters/$name/$top)" "$top" || wrong "$top does not link to $folder/$top"
  done
done

for script in tests/chapters/*.sh; do
  name=$(basename "$script" .sh)
  [[ -d chapters/$name ]] || wrong "$script is the test of no chapter"
done
exit $status
