#!/usr/bin/env bash
# docs/snippets/README.md and its Chinese twin have an entry for each of docs/snippets/*.cpp, with the whole file but for its
# first comment, and a row in the table at the top that leads to it; and nothing else.
#
# snippet-pages.sh --fill: writes the files into the entries anew, after they have changed.
set -euo pipefail
cd "$LAB_ROOT/docs/snippets"
status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}

# filled PAGE: the page, each block behind a line "[NAME.cpp](NAME.cpp)" replaced by that file from its third line on.
filled() {
  awk '
    /^\[[a-z-]+\.cpp\]\([a-z-]+\.cpp\)$/ { name = $0; sub(/^\[/, "", name); sub(/\].*/, "", name) }
    inside && $0 != "```" { next }
    { inside = 0; print }
    $0 == "```cpp" && name != "" {
      for (n = 1; (getline line <name) > 0; n++) if (n > 2) print line
      close(name)
      inside = 1
      name = ""
    }' "$1"
}

if [[ ${1-} == --fill ]]; then
  for page in README.md README.zh-CN.md; do
    text=$(filled "$page")
    printf '%s\n' "$text" >"$page"
  done
  exit
fi

files=$(printf '%s\n' *.cpp)
awk '
  FNR == 1 && !/^\/\/ How .*\?$/ || FNR == 2 && $0 != "" || FNR == 3 && !/^#include / {
    print FILENAME " does not begin with its question, a blank line and its includes"
    bad = 1
  }
  END { exit bad }' ./*.cpp || status=1
for page in README.md README.zh-CN.md; do
  diff <(filled "$page") "$page" || wrong "$page (>) does not have the files as they are (<); tests/doc/snippet-pages.sh --fill"
  entries=$(sed -nE 's,^\[([a-z-]+\.cpp)\]\(\1\)$,\1,p' "$page")
  diff <(printf '%s\n' "$files") <(sort <<<"$entries") || wrong "$page: its entries (>) are not the files (<)"
  # The table has them in the order of the page, under the title of the entry.
  # shellcheck disable=SC2016 # the backquotes are those of markdown
  diff <(awk '/^```/ { code = !code } !code && sub(/^### /, "") { title = $0 } !code && /^\[[a-z-]+\.cpp\]\(/ { sub(/\]\(.*/, ""); sub(/^\[/, ""); print title " " $0 }' "$page") \
    <(sed -nE 's,^\| \[([^]]+)\]\(#[^ ]+\) \| `([a-z-]+\.cpp)` \|$,\1 \2,p' "$page") ||
    wrong "$page: the table at the top (>) is not the list of its entries (<)"
done
missing=$(awk 'FNR == 1 { sub(/^\/\//, "###"); print }' ./*.cpp | grep -vxFf <(grep '^### ' README.md)) || true
[[ -z $missing ]] || wrong "README.md has no entry that asks as the file does: $missing"
printf '%s snippets\n' "$(wc -l <<<"$files")"
exit $status
