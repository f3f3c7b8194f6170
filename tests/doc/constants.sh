#!/usr/bin/env bash
# The tables of docs/constants.md and of its Chinese twin are what the program prints that was compiled with the headers.
# constants.sh PROGRAM
set -euo pipefail
program=$1
cd "$LAB_ROOT"

# tables PAGE: a blank line between two.
tables() { awk '/^\|/ { if (count++ && !inside) print ""; inside = 1; print; next } { inside = 0 }' "$1"; }

status=0
count=0
while read -r page option; do
  diff <("$program" ${option:+"$option"}) <(tables "$page") || {
    printf '%s (>) does not have the tables that tests/doc/constants.cpp prints (<)\n' "$page"
    status=1
  }
  count=$((count + $(tables "$page" | grep -c '^| ')))
done <<'PAGES'
docs/constants.md
docs/constants.zh-CN.md --zh
PAGES
printf '%s rows\n' "$count"
exit $status
