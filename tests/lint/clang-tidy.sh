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
jq 'map(select(.file | test("/tests/|/labs/([0-9]+/)?[^/]*/lab.cpp$") | not)) | unique_by(.file)
  | map(. + {target: (.command | capture(" -o (?<path>[^ ]*/)?(?<name>[^ /]*)\\.dir/").name)})' "$build/compile_commands.json" >"$once/commands"

# Most of the time goes to headers, the same ones in many files. So the files of a library, whose unnamed namespaces have no
# name twice, are looked at in one that includes them all.
for library in lab_common lab_judge verbs_check_core verbs_check_timeline snippets; do
  jq -r --arg library "$library" '.[] | select(.target == $library) | "#include \"\(.file)\""' "$once/commands" >"$once/$library.cpp"
done
# What the labs are held against has the same names in each file: copies have a namespace each.
for file in labs/*/checks.cpp; do
  mkdir -p "$once/${file%/*}"
  sed "s/^namespace judge {/namespace judge_${file//[!0-9]/} { using namespace judge;/" "$file" >"$once/$file"
  printf '#include "%s"\n' "$once/$file"
done >"$once/checks"
{ printf '#include "tools/judge/lab.hpp"\n'; cat "$once/checks"; } >"$once/judge-01.cpp"
jq --arg once "$once" '
  def together: .file as $one | "\($once)/\(.target).cpp" as $all
    | .command |= (split($one) | join($all)) | .file = $all;
  map(if .target | test("^(lab_common|lab_judge|verbs_check_core|verbs_check_timeline|snippets|judge-.*)$") then together else . end)
  | map(select(.file | test("/judge-(0[2-9]|[1-9][0-9])\\.cpp$") | not)) | unique_by(.file) | map(del(.target))' "$once/commands" >"$once/compile_commands.json"
mapfile -t sources < <(jq -r '.[].file' "$once/compile_commands.json")
clang-tidy --version | sed -n 's/^ *//; /version/p'
printf '%s files\n' "${#sources[@]}"
# The count of suppressed warnings from system headers goes to standard error: not interesting.
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --config-file=.clang-tidy -p "$once" --quiet 2>/dev/null
