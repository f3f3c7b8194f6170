#!/usr/bin/env bash
# Every source that the build compiles passes the checks of .clang-tidy, but for the tests: they would take longer than
# all the others, most of it inside GoogleTest. clang-tidy.sh BUILD
set -euo pipefail
build=$1
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
need clang-tidy
need jq

cd "$LAB_ROOT"
[[ -e $build/compile_commands.json ]] || { printf 'there is no %s/compile_commands.json\n' "$build"; exit 1; }
# Only what the build knows: for other files the flags would be guesses. clang-tidy goes through a file once for each command
# that compiles it; those differ in nothing that it looks at, so it is given the first only.
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT
# Of labs the solutions: what is composed of them differs in some steps, and those are wrong on purpose.
jq 'map(select(.file | test("/tests/|/labs/([0-9]+/)?[^/]*/lab.cpp$") | not)) | unique_by(.file)' "$build/compile_commands.json" >"$once/compile_commands.json"
mapfile -t sources < <(jq -r '.[].file' "$once/compile_commands.json")
clang-tidy --version | sed -n 's/^ *//; /version/p'
printf '%s files\n' "${#sources[@]}"
# The count of suppressed warnings from system headers goes to standard error: not interesting.
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$once" --quiet 2>/dev/null
