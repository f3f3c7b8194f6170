#!/usr/bin/env bash
# Each finding of the checker has its page, its program and its row in docs/verbs-check/README.md, and nothing else has. The
# same holds for the Chinese page of each, and for README.zh-CN.md.
# findings.sh --table prints the table as it should be, --table zh-CN the rows of the Chinese one.
set -euo pipefail
cd "$LAB_ROOT"

folder=docs/verbs-check
# Pages that are about something else.
no_finding='README|reports|stock-tools|trace|timeline'
sections=$'What you see\nWhat the checker prints\nWhy\nWrong\nRight\nWhere it shows'
chinese_sections=$'现象\n检查器的输出\n原因\n错误的写法\n正确的写法\n在哪些驱动上会出现'

# An id stands as a whole text in the sources: words with hyphens between, or one of the two that are a single word.
ids() {
  cat tools/verbs-check/src/*.[ch]pp | grep -oE '"([a-z]+(-[a-z]+)+|leak|busy)"' | tr -d '"' | grep -vxE 'libverbs-check|initial-exec' | sort -u
}
# names FOLDER SUFFIX: what stands before the suffix in the names of the files; names with another dot are something else.
names() { printf '%s\n' "$1"/*"$2" | sed "s,.*/,,; s,\\$2\$,," | grep -vF . | sort; }
pages() { names "$folder" "$1" | { grep -vxE "$no_finding" || true; }; }

# what PAGE: the first sentence of a page, behind the title and the link to the other language.
what() { awk 'NR > 1 && NF && !/^\[English\]/ { print; exit }' "$1"; }
# rows SUFFIX: those of the table, which lead to the pages ID SUFFIX.
rows() {
  local id
  for id in $(ids); do
    printf '| [%s](%s) | %s | [%s.cpp](../../tests/verbs-check/programs/%s.cpp) | Soft-RoCE |\n' \
      "$id" "$id$1" "$(what "$folder/$id$1")" "$id" "$id"
  done
}
table() {
  printf '| id | what | example | tested on |\n|---|---|---|---|\n'
  rows .md
}
case ${1-}${2+ $2} in
  '') ;;
  --table) table; exit ;;
  '--table zh-CN') rows .zh-CN.md; exit ;;
  *) printf 'findings.sh [--table [zh-CN]]\n' >&2; exit 2 ;;
esac

status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}
# same WHAT: the names on standard input are the ids.
same() {
  local difference
  difference=$(diff <(ids) -) || wrong "$1 (>) are not those of the ids in tools/verbs-check/src (<):"$'\n'"$difference"
}
same 'the pages docs/verbs-check/ID.md' < <(pages .md)
same 'the programs tests/verbs-check/programs/ID.cpp' < <(names tests/verbs-check/programs .cpp)
if [[ $status -eq 0 ]]; then
  diff <(table) <(grep '^|' $folder/README.md | sed -n '/^| id |/,$p') ||
    wrong "the table in $folder/README.md (>) is not what tests/doc/findings.sh --table prints (<)"
fi
if [[ $status -eq 0 && -e $folder/README.zh-CN.md ]]; then
  same 'the pages docs/verbs-check/ID.zh-CN.md' < <(pages .zh-CN.md)
  diff <(rows .zh-CN.md) <(grep -E '^\| \[[a-z-]+\]\(' $folder/README.zh-CN.md) ||
    wrong "the table in $folder/README.zh-CN.md (>) has not the rows that tests/doc/findings.sh --table zh-CN prints (<)"
fi
# built SUFFIX SECTIONS: each page has its id as the title, and these sections.
built() {
  local id page have
  for id in $(pages "$1"); do
    page=$folder/$id$1
    [[ $(head -n 1 "$page") == "# $id" ]] || wrong "$page: the title is not \"# $id\""
    have=$(awk '/^```/ { code = !code } !code && sub(/^## /, "")' "$page")
    [[ $have == "$2" ]] || wrong "$page: the sections are"$'\n'"$have"
  done
}
built .md "$sections"
built .zh-CN.md "$chinese_sections"
printf '%s findings\n' "$(ids | wc -l)"
exit $status
