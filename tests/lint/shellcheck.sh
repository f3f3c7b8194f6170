#!/usr/bin/env bash
# Every shell script passes shellcheck.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
need shellcheck

cd "$LAB_ROOT"
mapfile -t all < <(files '*')
bash=()
ash=()
for file in "${all[@]}"; do
  first=
  if [[ -f $file ]]; then IFS= read -r first <"$file" 2>/dev/null || true; fi
  case $first in
    '#!'*busybox*) ash+=("$file") ;;
    '#!'*bash | '#!'*/sh | '# shellcheck shell=bash') bash+=("$file") ;;
    *) if [[ $file == *.sh ]]; then bash+=("$file"); fi ;;
  esac
done

# -x follows "source" comments, which are relative to the checkout (-P).
status=0
shellcheck -x -P "$LAB_ROOT" "${bash[@]}" || status=1
# busybox sh is a dash with a few additions.
shellcheck -x -P "$LAB_ROOT" --shell=dash "${ash[@]}" || status=1
printf '%s scripts\n' $((${#bash[@]} + ${#ash[@]}))
exit $status
