#!/usr/bin/env bash
# What people have run into (reports.txt): to each report the finding that names its cause and a program that shows it, or
# why none can. The programs of reports/ make the same mistakes: each gives the findings at its marked lines and no others,
# and they say what the program claims. programs.sh runs those of programs/.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device

# shellcheck source=tests/verbs-check/marked.sh
. "$LAB_ROOT/tests/verbs-check/marked.sh"
least=60 # of the reports are named

# Each line names a finding and a program that there are; each program of reports/ is named.
reports=0 named=0
while IFS='|' read -r id seen finding program; do
  reports=$((reports + 1))
  if [[ -z $id || -z $seen || -z $program ]]; then
    fault "reports.txt: not id | what is seen | finding or - | program or reason: $id"
  elif [[ $finding != - ]]; then
    named=$((named + 1))
    [[ -e $LAB_ROOT/docs/verbs-check/$finding.md ]] || fault "reports.txt: $id: there is no finding $finding"
    source=$(ls "$here/programs/$program.cpp" "$here/reports/$program.cpp" 2>/dev/null) || true
    if [[ ! -f $source ]]; then
      fault "reports.txt: $id: there is no program $program"
    elif ! grep -q "// here: $finding\$" "$source"; then
      fault "reports.txt: $id: $program does not show $finding"
    fi
  fi
done < <(sed -nE '/^#/!s, *\| *,|,gp' "$here/reports.txt")
repeated=$(sed -nE 's,^([A-Z][0-9]+) .*,\1,p' "$here/reports.txt" | sort | uniq -d)
[[ -z $repeated ]] || fault "reports.txt: more than once: $repeated"
((named >= least)) || fault "reports.txt: $named of $reports reports are named, fewer than $least"
mapfile -t list < <(names reports)
for name in "${list[@]}"; do
  grep -q "| $name\$" "$here/reports.txt" || fault "reports/$name.cpp is in no line of reports.txt"
done

marked reports report
printf '%s of %s reports are named; %s programs of their own\n' "$named" "$reports" "${#list[@]}"
exit $failed
