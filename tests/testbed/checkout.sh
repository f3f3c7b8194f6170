#!/usr/bin/env bash
# The checkout may lie in unusual places; where CMake could not cope, ./lab says so at once.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ -d /dev/shm && -w /dev/shm ]] || { echo "no /dev/shm that can be written"; exit 77; }
unset LAB_STATE
temp=$(mktemp -d "/dev/shm/lab %h, 100%.XXXXXX")
copy="$temp/it is here"
trap '"$copy/lab" down >/dev/null 2>&1; rm -rf "$temp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$copy"
cp -r "$LAB_ROOT"/{lab,tools,CMakePresets.json} "$copy/"

cd "$copy"
check "below /dev/shm, with spaces, a comma and per cent signs" "$copy" "$(./lab exec server -- pwd)"
check "what is written there is here" there "$(./lab exec server -- sh -c 'echo there >file' && cat file)"
./lab down

# shellcheck disable=SC2016 # the dollar is meant
for name in "it's" 'a"b' 'a;b' 'a$b' 'a\b' $'a\nb' 'a*b' 'a?b' 'a[b]'; do
  mkdir "$temp/$name"
  cp -r "$LAB_ROOT"/{lab,tools} "$temp/$name/"
  seen=0
  "$temp/$name/lab" list >"$temp/out" 2>&1 || seen=$?
  check "refused: $name" 2 $seen
  holds "and it is said why" grep -qF "contains the character $(printf '%q' "${name//[a-z\]]/}" | cut -c 1-2)" "$temp/out"
done
exit $failed
