#!/usr/bin/env bash
# The snippets of docs/snippets do what they claim: snippets.sh PROGRAM [VERBS-CHECK] runs the program that executes them all
# on a host, and once more under verbs-check, as a device that forgives nothing.
. "${LAB_ROOT:?}/tests/lib.sh"
program=$1 check=${2-}
require_device
RUN_LIMIT=120

# What snippets about errors do on purpose: a line for each finding.
expected='error-completion wc-rnr-retry-exc-err
timers wc-retry-exc-err
post-list sge-too-many
cm-event cm-refused'

# all_passed: every snippet was run, and nothing but the names is on standard error.
all_passed() {
  expect_status 0
  difference=$(diff <(sed -n 's/^passed //p' "$WORK/out" | sort) <(printf '%s\n' docs/snippets/*.cpp | sed 's,.*/,,; s,\.cpp$,,')) ||
    wrong "a line for each of docs/snippets/*.cpp (>): $difference"
}
cd "$LAB_ROOT"

# On the testbed with huge pages first; without them below.
place=$(. "$LAB_ROOT/tools/lib.sh"; . "$LAB_ROOT/tools/place.sh"; place)
if [[ $place == testbed ]]; then
  # shellcheck disable=SC2016 # expanded on the host
  on server sh -c 'pages=/proc/sys/vm/nr_hugepages; echo 2 >$pages; "$1"; status=$?; echo 0 >$pages; exit $status' sh "$program"
  expect_out '^huge pages: some$'
else
  on server "$program"
fi
all_passed
expect_no_out '^FAILED'
! grep -v '^=== ' "$WORK/err" || wrong 'nothing on standard error but the names'

[[ -n $check ]] || exit 0
on server "$check" --strict -- "$program"
all_passed
found=$(awk '/^=== / { for (i = 1; i <= count; i++) print $2, ids[i]; count = 0; next }
  match($0, /^verbs-check: \[[^]]*\]/) && !/ came [0-9]+ times/ { ids[++count] = substr($0, 15, RLENGTH - 15) }
  !/^verbs-check:/ { print "also: " $0 }
  END { for (i = 1; i <= count; i++) print "at the end:", ids[i] }' "$WORK/err")
[[ $found == "$expected" ]] || wrong "these findings: $expected; not: $found"
