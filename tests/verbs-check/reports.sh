#!/usr/bin/env bash
# What people have run into (reports.txt): to each report the finding that names its cause and a program that shows it, or
# why none can. The programs of reports/ make the same mistakes: each gives the findings at its marked lines and no others,
# and they say what the program claims. programs.sh runs those of programs/.
. "$LAB_ROOT/tests/lib.sh"
require_device

check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
here=$LAB_ROOT/tests/verbs-check
least=60 # of the reports are named
failed=0
fault() {
  printf '%s\n' "$@"
  failed=1
}

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
mapfile -t names < <(cd "$here/reports" && printf '%s\n' *.cpp | sed 's/\.cpp$//')
for name in "${names[@]}"; do
  grep -q "| $name\$" "$here/reports.txt" || fault "reports/$name.cpp is in no line of reports.txt"
done

# told NAME WHAT: what the head of a program says.
told() { sed -n "s,^// $2: ,,p" "$here/reports/$1.cpp"; }

# runs HOST NAME...: those programs, with their options, in one go; a line "=== NAME" ends the output of each. How they end
# is of no matter: some crash, as in the report.
runs() {
  local host=$1 name list=()
  shift
  for name; do list+=("$name|$(told "$name" run)"); done
  # shellcheck disable=SC2016 # expanded on the host
  start "$host" "$host" "$check" -- bash -c '
    check=$1 programs=$2
    shift 2
    for run; do
      IFS="|" read -r name options <<<"$run"
      # Under the checker that is there already, or with options under one of its own.
      if [[ -z $options ]]; then "$programs/report-$name"; else LD_PRELOAD= "$check" $options -- "$programs/report-$name"; fi 2>&1
      printf "\n=== %s\n" "$name"
    done' bash "$check" "$programs" "${list[@]}"
}
half=$((${#names[@]} / 2))
runs server "${names[@]:0:half}"
runs client "${names[@]:half}"
for host in server client; do
  finish $host
  expect_status 0
  awk -v work="$WORK/" '/^=== / { printf "%s", text >(work $2 ".said"); text = ""; next } { text = text $0 "\n" }' "$WORK/out"
done

for name in "${names[@]}"; do
  said=$WORK/$name.said
  [[ -e $said ]] || wrong "a run of report-$name"
  marks=$(sed -nE "/\/\/ here: [a-z-]+\$/{=;s,.*// here: ,,p}" "$here/reports/$name.cpp" |
    while read -r line && read -r mark; do printf '%s main, %s.cpp:%s\n' "$mark" "$name" "$line"; done)
  found=$(sed -n 's/^verbs-check: \[\([^]]*\)\].*/\1/p' "$said" | paste -d ' ' - <(sed -n 's/^verbs-check:   where:   //p' "$said"))
  texts=$(told "$name" says)
  [[ -n $marks && -n $texts ]] || fault "reports/$name.cpp has no '// here: FINDING' or no '// says: TEXT'"
  missing=$(while read -r text; do grep '^verbs-check:' "$said" | grep -qF -- "$text" || printf '%s\n' "$text"; done <<<"$texts")
  if [[ $found != "$marks" || -n $missing ]]; then
    fault "report-$name: wanted" "$marks" "${missing:+that says: $missing}" "and it printed"
    sed 's/^/  /' "$said"
  fi
done
printf '%s of %s reports are named; %s programs of their own\n' "$named" "$reports" "${#names[@]}"
exit $failed
