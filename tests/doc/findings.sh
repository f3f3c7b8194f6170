#!/usr/bin/env bash
# Each finding of the checker has its page, its program and its row in docs/verbs-check/README.md, and nothing else has.
# findings.sh --table prints the table as it should be.
set -euo pipefail
cd "$LAB_ROOT"

# Pages that are about something else.
no_finding='README|reports|stock-tools|trace|timeline'

# An id stands as a whole text in the sources: words with hyphens between, or one of the two that are a single word.
ids() {
  cat tools/verbs-check/src/*.[ch]pp | grep -oE '"([a-z]+(-[a-z]+)+|leak|busy)"' | tr -d '"' | grep -vxE 'libverbs-check|initial-exec' | sort -u
}
names() { printf '%s\n' "$1"/*"$2" | sed "s,.*/,,; s,\\$2\$,," | sort; }

# what ID: the first sentence of its page.
what() { sed -n 3p "docs/verbs-check/$1.md"; }
table() {
  local id
  printf '| id | what | example | tested on |\n|---|---|---|---|\n'
  for id in $(ids); do
    printf '| [%s](%s.md) | %s | [%s.cpp](../../tests/verbs-check/programs/%s.cpp) | Soft-RoCE |\n' \
      "$id" "$id" "$(what "$id")" "$id" "$id"
  done
}
if [[ ${1-} == --table ]]; then
  table
  exit
fi

status=0
# same WHAT: the names on standard input are the ids.
same() {
  local difference
  if ! difference=$(diff <(ids) -); then
    printf '%s (>) are not those of the ids in tools/verbs-check/src (<):\n%s\n' "$1" "$difference"
    status=1
  fi
}
same 'the pages docs/verbs-check/ID.md' < <(names docs/verbs-check .md | grep -vxE "$no_finding")
same 'the programs tests/verbs-check/programs/ID.cpp' < <(names tests/verbs-check/programs .cpp)
if [[ $status -eq 0 ]] && ! diff <(table) <(grep '^|' docs/verbs-check/README.md | sed -n '/^| id |/,$p'); then
  printf 'the table in docs/verbs-check/README.md (>) is not what tests/doc/findings.sh --table prints (<)\n'
  status=1
fi
for id in $(names docs/verbs-check .md | grep -vxE "$no_finding"); do
  page=docs/verbs-check/$id.md
  [[ $(head -n 1 "$page") == "# $id" ]] || { printf '%s: the title is not "# %s"\n' "$page" "$id"; status=1; }
  have=$(awk '/^```/ { code = !code } !code && sub(/^## /, "")' "$page")
  [[ $have == $'What you see\nWhat the checker prints\nWhy\nWrong\nRight\nWhere it shows' ]] ||
    { printf '%s: the sections are\n%s\n' "$page" "$have"; status=1; }
done
printf '%s findings\n' "$(ids | wc -l)"
exit $status
