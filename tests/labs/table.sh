#!/usr/bin/env bash
# The table of wrong submissions in docs/labs/README.md is what the tests hold: one row for each, with the check that catches it.
# lab.NAME fails when one of them is not caught by this check and this one alone. table.sh --table prints it. The Chinese page has
# the same rows, with what the mistake is in Chinese.
set -euo pipefail
cd "$LAB_ROOT"

table() {
  local folder name file caught
  printf '| lab | wrong submissions | caught by the check meant for them |\n|---|---|---|\n'
  for folder in labs/*/; do
    name=$(basename "$folder")
    caught=$(find "$folder/wrong" -name '*.inc' | wc -l)
    printf '| %s | %s | %s (100 %%) |\n' "${name%%-*}" "$caught" "$caught"
  done
  printf '\n| lab | the mistake | the check |\n|---|---|---|\n'
  for folder in labs/*/; do
    name=$(basename "$folder")
    for file in "$folder"wrong/*.inc; do
      # The sentences of the head, up to "// fails:".
      # shellcheck disable=SC2016 # backquotes of Markdown
      printf '| %s | %s | `%s` |\n' "${name%%-*}" "$(awk '/^\/\/ (fails|seen): / || !/^\/\// { exit } { sub(/^\/\/ /, ""); printf "%s%s", sep, $0; sep = " " }' "$file" | sed 's/|/\\|/g')" \
        "$(sed -nE 's,^// fails: ([a-z0-9-]+).*,\1,p' "$file")"
    done
  done
}

if [[ ${1-} == --table ]]; then
  table
  exit
fi
status=0
# written PAGE: what stands in it for a table.
written() { awk '/^<!-- table -->$/ { inside = 1; next } /^<!-- end of table -->$/ { inside = 0 } inside' "$1"; }
diff <(table) <(written docs/labs/README.md) || {
  printf 'docs/labs/README.md (<: what there is, >: what it says): put the output of tests/labs/table.sh --table there\n'
  status=1
}
# The Chinese page says in its own words what the mistakes are; rows, numbers and checks are the same.
# shellcheck disable=SC2016 # backquotes of Markdown
rows() { sed -nE 's/^(\| [0-9]+ \|) .+ (\| `[a-z0-9-]+` \|)$/\1 ... \2/; /^\| [0-9]/p'; }
diff <(table | rows) <(written docs/labs/README.zh-CN.md | rows) || {
  printf 'docs/labs/README.zh-CN.md (>) has other rows than there are wrong submissions (<)\n'
  status=1
}
exit $status
