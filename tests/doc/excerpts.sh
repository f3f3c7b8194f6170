#!/usr/bin/env bash
# Every ```cpp block of the prose is code of the repository, word for word.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"

cd "$LAB_ROOT"
# Wherever prose is, it may quote what chapters share, and tests.
mapfile -t shared < <(files 'common/*.hpp' 'common/*.cpp' 'tests/*.cpp' 'tests/*.hpp')
mapfile -t chapters < <(files 'chapters/*/main.cpp')
mapfile -t prose < <(files '*.md')

status=0
for page in "${prose[@]}"; do
  case $page in
    */*) mapfile -t sources < <(files "${page%/*}/*.cpp") ;; # the page of a chapter quotes its own program first
    *) sources=() ;;
  esac
  # A page that belongs to no program may quote any chapter.
  if [[ ${#sources[@]} -eq 0 ]]; then sources=("${chapters[@]}"); fi
  awk -f tests/doc/excerpts.awk -v page="$page" "${sources[@]}" "${shared[@]}" "$page" || status=1
done
exit $status
