#!/usr/bin/env bash
# Other ways to the findings of programs/, each with what only it can show: the program of a finding has one mistake.
. "${LAB_ROOT:?}/tests/lib.sh"
# shellcheck source=tests/verbs-check/marked.sh
. "$LAB_ROOT/tests/verbs-check/marked.sh"
require_device
marked variants variant
printf '%s programs\n' "$(names variants | wc -l)"
exit $failed
