#!/usr/bin/env bash
# docs/verbs-check/reports.md is what tests/verbs-check/reports.txt says. reports.sh --page prints the page as it should be.
# The Chinese page has the same rows in other words: ids, findings and programs are compared.
set -euo pipefail
cd "$LAB_ROOT"

page() {
  cat <<'TEXT'
# What people ran into

Public questions and bug reports about verbs programs, in a few words each, and what `verbs-check` says to the same
mistake. The programs are small and wrong on purpose. The test suite runs them on Soft-RoCE: the finding comes, at the
line of the mistake, and those that were written for a report are held to words about its very cause. Surroundings, such as a
kernel without a device, are imitated in namespaces of the program; the status of D13, which Soft-RoCE does not give, is
made by `--fail-completion`. Nothing was tested on hardware.

| | what is seen, and why | finding | program |
|---|---|---|---|
TEXT
  local id seen finding program folder
  while IFS='|' read -r id seen finding program; do
    [[ $finding != - ]] || continue
    folder=programs
    if [[ -e tests/verbs-check/reports/$program.cpp ]]; then folder=reports; fi
    printf '| %s | %s | [%s](%s.md) | [%s.cpp](../../tests/verbs-check/%s/%s.cpp) |\n' \
      "$id" "$seen" "$finding" "$finding" "$program" "$folder" "$program"
  done < <(rows)
  cat <<'TEXT'

## What it cannot show

For these there is no finding, or no program that shows it on the testbed.

| | what is seen, and why | the reason |
|---|---|---|
TEXT
  while IFS='|' read -r id seen finding program; do
    [[ $finding != - ]] || printf '| %s | %s | %s |\n' "$id" "$seen" "$program"
  done < <(rows)
  printf '\nAll findings: [README](README.md).\n'
}
rows() { sed -nE '/^#/!s, *\| *,|,gp' tests/verbs-check/reports.txt; }

if [[ ${1-} == --page ]]; then
  page
  exit
fi
if ! diff <(page) docs/verbs-check/reports.md; then
  printf 'docs/verbs-check/reports.md (>) is not what tests/doc/reports.sh --page prints (<)\n'
  exit 1
fi

# skeleton PAGE: of each row what needs no words: "ID FINDING PROGRAM", or the id alone.
skeleton() {
  sed -nE 's/^\| ([A-Z][0-9]+) \| .* \| \[([a-z-]+)\]\(\2(\.zh-CN)?\.md\) \| (.*) \|$/\1 \2 \4/p; s/^\| ([A-Z][0-9]+) \| [^|]* \| [^|]* \|$/\1/p' "$1"
}
if ! diff <(skeleton docs/verbs-check/reports.md) <(skeleton docs/verbs-check/reports.zh-CN.md); then
  printf 'docs/verbs-check/reports.zh-CN.md (>) has other rows than docs/verbs-check/reports.md (<)\n'
  exit 1
fi
[[ $(skeleton docs/verbs-check/reports.md | wc -l) -eq $(rows | wc -l) ]] || { printf 'skeleton misses rows\n'; exit 1; }
printf '%s reports\n' "$(rows | wc -l)"
