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
#
# Most of the time goes to headers, the same ones in many files. So files that belong together are looked at in one, which
# includes them all: a group of them.
jq '
  def group: if test("^[0-9]{2}-") then "chapters"
    elif test("^lab-[0-9]{2}-solution$") then "solutions"
    elif test("^judge-") then "checks"
    elif test("^(lab-box|lab-verdicts|lab_judge_main)$") then "judge_programs"
    elif . == "verbs-check-timeline" then "verbs_check_timeline"
    elif test("^(deviations|lab_common|lab_judge|snippets|verbs-check|verbs_check_core|verbs_check_timeline)$") then .
    else "" end;
  map(select(.file | test("/tests/|/labs/([0-9]+/)?[^/]*/lab.cpp$") | not)) | unique_by(.file)
  | map(. + {group: (.command | capture(" -o ([^ ]*/)?(?<target>[^ /]*)\\.dir/").target | group)})
  ' "$build/compile_commands.json" >"$once/commands"

# together GROUP HOW: writes the file that includes those of the group; HOW is told each of them, and prints what includes it.
together() {
  local file
  while read -r file; do "$2" "$file"; done < <(jq -r --arg group "$1" '.[] | select(.group == $group).file' "$once/commands") >"$once/$1.cpp"
}
# The unnamed namespaces of a library have no name twice, but macros.
as_it_is() { printf '#undef %s\n' HERE CALL NEXT; printf '#include "%s"\n' "$1"; }
# Programs have the same names: they are in a namespace each, with all headers outside of it.
in_its_own() {
  grep '^#include' "$1"
  printf 'namespace in%s {\n#include "%s"\n}\n' "${1//[!A-Za-z0-9]/_}" "$1"
}
# So has what the labs are held against, in a namespace of the judge that it uses: a copy has another one.
copied() {
  local copy=$once/${1#"$LAB_ROOT"/}
  mkdir -p "${copy%/*}"
  sed "s/^namespace judge {/namespace judge_${copy//[!0-9]/} { using namespace judge;/" "$1" >"$copy"
  printf '#include "tools/judge/lab.hpp"\n#include "%s"\n' "$copy"
}
for group in deviations lab_common lab_judge snippets verbs-check verbs_check_core verbs_check_timeline; do together $group as_it_is; done
for group in chapters solutions judge_programs; do together $group in_its_own; done
together checks copied
jq --arg once "$once" '
  def together: .file as $one | "\($once)/\(.group).cpp" as $all | .command |= (split($one) | join($all)) | .file = $all;
  map(if .group == "" then . else together end) | unique_by(.file) | map(del(.group))' "$once/commands" >"$once/compile_commands.json"
mapfile -t sources < <(jq -r '.[].file' "$once/compile_commands.json")
clang-tidy --version | sed -n 's/^ *//; /version/p'
printf '%s files\n' "${#sources[@]}"
# The count of suppressed warnings from system headers goes to standard error: not interesting.
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --config-file=.clang-tidy -p "$once" --quiet 2>/dev/null
