#!/usr/bin/env bash
# ./lab list, check, watch, hint, reset and solution, as somebody uses them: in a copy of the checkout with its own labs, which
# uses the build and the hosts of this one.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device
for tool in jq inotifywait /usr/bin/jsonschema; do # not another one of a Python of the user
  command -v $tool >/dev/null || { printf '%s is not installed (./lab test installs it)\n' $tool; exit 77; }
done
RUN_LIMIT=240
# shellcheck source=tests/labs/copy.sh
. "$LAB_ROOT/tests/labs/copy.sh"
copy_of_labs
trap 'clean_up "$copy" "$LAB_VERDICTS"' EXIT
lab() { run "$copy/lab" "$@"; }
mine=$copy/labs/03-protection-domain/lab.cpp
solution=$copy/solutions/03-protection-domain/lab.cpp

# Bad command lines.
for command in check hint reset solution watch; do
  lab $command 99
  expect_usage_error 'there is no lab 99'
  lab $command x
  expect_usage_error "$command wants the number of a lab"
done
lab check 03 --nosuch
expect_usage_error 'not --nosuch'
lab check --file "$mine"
expect_usage_error '--file wants the one lab'
lab check 03 --file /nosuch
expect_usage_error 'no readable file /nosuch'
lab check 03 --json
expect_usage_error '--json wants a file'
lab hint 03 9
expect_usage_error "no step '9'"

# Handed out.
lab list
expect_status 0
expect_out '^03  untouched +a protection domain for each tenant'
[[ $(grep -c untouched "$WORK/out") == $(find "$copy/labs" -name lab.cpp | wc -l) ]] || wrong 'all labs untouched'
lab solution 03
expect_status 1
expect_err 'shown once lab.cpp, as it is now, passes'
expect_no_out .
lab reset 03 --yes
expect_status 0
expect_err 'is the starter already'

# The starter fails, and why. The hint that it names is there, and each call gives the next one.
lab check 03 --json "$WORK/json" --gradescope "$WORK/gradescope"
expect_status 1
expect_err 'still the starter, which is meant to fail'
expect_out '^  FAIL +pd-each +0/25'
expect_out 'expected +ibv_alloc_pd three times'
expect_out 'hint +./lab hint 03 2'
expect_out '^5 of 100 points'
valid() { # FILE SCHEMA
  run /usr/bin/jsonschema -i "$1" "$copy/tools/judge/schema/$2.schema.json"
  expect_status 0
}
valid "$WORK/json" verdicts
valid "$WORK/gradescope" gradescope
[[ $(jq -r '.labs[0] | "\(.lab) \(.points) \(.passed) \(.device | length > 0)"' "$WORK/json") == '03-protection-domain 5 false true' ]] ||
  wrong 'the verdict as data'
for hint in 1 2 3 1; do
  lab hint 03
  expect_out "^lab 03, step 2, hint $hint of 3"
done

# It does not compile: a verdict, and the first error alone.
sed 's/^struct Tenant {/strict Tenant {/' "$solution" >"$mine"
lab check 03 --json "$WORK/json"
expect_status 1
expect_out '^  FAIL +builds +0/5'
expect_out "seen +lab.cpp:[0-9]+:[0-9]+: error: .*strict"
[[ $(wc -l <"$WORK/out") -lt 15 ]] || wrong 'a few lines'
valid "$WORK/json" verdicts
[[ $(jq -r '[.labs[0].checks[].status] | unique | join(" ")' "$WORK/json") == 'fail skip' ]] || wrong 'fail and skip'
lab list
expect_out '^03  in work +0/100 '

# It passes; then the solution is shown, and kept is what was there.
cp "$solution" "$mine"
lab check 03
expect_status 0
expect_out '03-protection-domain: 100 of 100 points, passed'
lab list
expect_out '^03  passed +100/100 '
lab solution 03
expect_status 0
cmp -s "$WORK/out" "$solution" || wrong 'the solution'
printf '// mine\n' >>"$mine"
lab list
expect_out '^03  in work +a protection'
lab reset 03
expect_usage_error 'reset asks before'
lab reset 03 --yes
expect_status 0
expect_err 'lab.cpp.backup-1'
[[ $(tail -n 1 "$mine.backup-1") == '// mine' ]] || wrong 'what was written is kept'
lab list
expect_out '^03  untouched'

# Warnings are shown and cost nothing.
sed 's/^  Tenants tenants;/  int unused = 0;\n&/' "$solution" >"$WORK/warned.cpp"
lab check 03 --file "$WORK/warned.cpp"
expect_status 0
expect_err "warning: unused variable"

# watch: checks what is saved; first where there are no notifications, then with them.
mkdir "$WORK/bin"
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\n[ -e %q ] || exit 1\n%q "$@"\nstatus=$?\necho $status >>%q\nexit $status\n' \
  "$WORK/notifies" "$(type -P inotifywait)" "$WORK/notified" >"$WORK/bin/inotifywait"
chmod +x "$WORK/bin/inotifywait"
: >"$WORK/watch" # here: they are looked at from now on
: >"$WORK/notified"
PATH=$WORK/bin:$PATH timeout "$(scaled 120)" "$copy/lab" watch 03 </dev/null >"$WORK/watch" 2>&1 &
STARTED[watch]=$! COMMANDS[watch]='lab watch 03' FINISHED[watch]=
STARTED[notified]=$! COMMANDS[notified]='lab watch 03' FINISHED[notified]=yes # the same process
wait_for watch '5 of 100 points'
wait_for watch 'waiting for the next change'
cp "$solution" "$mine"
wait_for watch '100 of 100 points'
touch "$WORK/notifies"
wait_for notified '^2$' # a second went by, and nothing was saved
cp "$WORK/warned.cpp" "$mine"
wait_for notified '^0$'
wait_for watch 'unused variable'
kill "${STARTED[watch]}"
finish watch

# Where nothing can be judged the files say so.
run env LAB_ON=host "$copy/lab" check 03 --json "$WORK/json" --gradescope "$WORK/gradescope"
expect_status 1
expect_err 'no usable RDMA device'
valid "$WORK/json" verdicts
valid "$WORK/gradescope" gradescope
[[ $(jq -r .error "$WORK/json") == 'nothing was judged'* ]] || wrong 'why there is no verdict'
