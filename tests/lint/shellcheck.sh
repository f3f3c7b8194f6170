#!/usr/bin/env bash
# Every shell script passes shellcheck. A file that is sourced is checked together with the script that sources it, since
# each uses what the other defines.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
need shellcheck

cd "$LAB_ROOT"
# first_line FILE
first_line() {
  local line=
  IFS= read -r line <"$1" 2>/dev/null || true
  printf '%s\n' "$line"
}

bash=()
busybox=()
parts=()
while IFS= read -r file; do
  [[ -f $file ]] || continue
  case $(first_line "$file") in
    '#!'*busybox*) busybox+=("$file") ;;
    '#!'*bash* | '#!'*/sh) bash+=("$file") ;;
    *) if [[ $file == *.sh ]]; then parts+=("$file"); fi ;;
  esac
done < <(files '*')

# -x -a: what "shellcheck source=" names is read and checked too; the names are relative to the checkout (-P).
status=0
shellcheck -x -a -P . "${bash[@]}" || status=1
# busybox sh is a dash with a few additions.
shellcheck -x -a -P . --shell=dash "${busybox[@]}" || status=1
for file in "${parts[@]}"; do
  if ! grep -qxE " *# shellcheck source=$file" -- "${bash[@]}" "${parts[@]}"; then
    printf '%s: no script names it in a "# shellcheck source=" line: it would not be checked\n' "$file"
    status=1
  fi
done
printf '%s scripts, %s sourced parts\n' $((${#bash[@]} + ${#busybox[@]})) "${#parts[@]}"
exit $status
