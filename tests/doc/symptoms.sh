#!/usr/bin/env bash
# Everything that people have run into (tests/verbs-check/reports.txt) is found in docs/symptoms.md, and in its Chinese twin, by
# what they saw: tests/doc/symptoms.txt says where. Each completion status is there with its number and text, and each errno value
# for which verbs-check or common/ know a cause.
set -euo pipefail
cd "$LAB_ROOT"
status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}
map=tests/doc/symptoms.txt
english=docs/symptoms.md
chinese=docs/symptoms.zh-CN.md

# entries PAGE: a line each: the anchor of its heading as GitHub makes it, a tab, its text without marks, on one line.
# shellcheck disable=SC1112 # the quotes of Chinese headings are meant
entries() {
  awk '
    /^<!-- written from:$/ { exit }
    /^## / { open = 0 }
    /^### / { open = 1; printf "%s%s\t", (count++ ? "\n" : ""), substr($0, 5) }
    open { gsub(/\t/, " "); sub(/^#+ /, ""); sub(/^ +/, ""); printf "%s ", $0 }
    END { print "" }' "$1" | sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g' | tr -d '`*' | awk -F '\t' -v OFS='\t' '
    {
      anchor = tolower($1)
      gsub(/[]!"#$%&\047()+,.\/:;<=>?@\\^{|}~[]/, "", anchor)
      gsub(/，|。|：|；|、|？|！|“|”|‘|’|（|）|《|》|【|】|…|—/, "", anchor)
      gsub(/ /, "-", anchor)
      print anchor, $2
    }'
}
rows() { sed -nE '/^#/!s, +\| +,\t,gp' "$map"; }

# The n-th entry of the Chinese page is that of the n-th English one: doc.pairs holds both to the same headings.
declare -A number text
count=0
while IFS=$'\t' read -r anchor words; do
  count=$((count + 1))
  [[ -z ${number[$anchor]-} ]] || wrong "$english: two entries have the anchor $anchor"
  number[$anchor]=$count text[$count]=$words
done < <(entries "$english")
mapfile -t translated < <(entries "$chinese" | cut -f 2)
((${#translated[@]} == count)) || wrong "$chinese has ${#translated[@]} entries, and $english $count"

while IFS=$'\t' read -r id anchor words others; do
  n=${number[$anchor]-}
  if [[ -z $n ]]; then
    wrong "$map: $id: $english has no entry #$anchor"
    continue
  fi
  [[ ${text[$n]} == *"$words"* ]] || wrong "$english: the entry #$anchor does not have the words of $id: $words"
  [[ ${translated[n - 1]-} == *"${others:-$words}"* ]] ||
    wrong "$chinese: entry $n, which is #$anchor in English, does not have the words of $id: ${others:-$words}"
done < <(rows)
reported=$(sed -nE 's/^([A-Z][0-9]+) \|.*/\1/p' tests/verbs-check/reports.txt | sort -u)
difference=$(diff <(printf '%s\n' "$reported") <(rows | cut -f 1 | sort -u)) ||
  wrong "$map (>) has other ids than tests/verbs-check/reports.txt (<):"$'\n'"$difference"

# Names and numbers come from the headers, by the compiler.
statuses=$(grep -oE 'NAMED\(IBV_WC_[A-Z_]+\)' tools/verbs-check/src/names.cpp | sed 's/.*(//; s/)//' | sort -u)
errnos=$(grep -ohE '\bE[A-Z]{3,}\b' tools/verbs-check/src/{refusals,cm,statuses,transition}.cpp common/errors.cpp | sort -u)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # the backquotes are those of the page
{
  printf '#include <errno.h>\n#include <infiniband/verbs.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n'
  # Opcodes of completions have the same prefix.
  for name in $statuses; do
    if [[ $name == IBV_WC_SUCCESS || $name == *_ERR || $name == IBV_WC_TM_RNDV_INCOMPLETE ]]; then
      printf 'printf("| %%d | `%s` | %%s |\\n", %s, ibv_wc_status_str(%s));\n' "$name" "$name" "$name"
    fi
  done
  for name in $errnos; do
    printf '#ifdef %s\nprintf("| `%s` | %%d | %%s |\\n", %s, strerror(%s));\n#endif\n' "$name" "$name" "$name" "$name"
  done
  printf '}\n'
} >"$work/names.c"
gcc -x c -o "$work/names" "$work/names.c" -libverbs
"$work/names" >"$work/rows"
(($(wc -l <"$work/rows") >= 40)) || wrong "only $(wc -l <"$work/rows") names were found in the sources"
while IFS= read -r row; do
  for page in "$english" "$chinese"; do
    grep -qF -- "$row" "$page" || wrong "$page has no row that begins with: $row"
  done
done <"$work/rows"

printf '%s reports, %s entries, %s names\n' "$(wc -w <<<"$reported")" "$count" "$(wc -l <"$work/rows")"
exit $status
