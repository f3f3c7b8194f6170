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

# code FILE: what the page has of it.
code() { sed '1,2d' "$1"; }

# filled PAGE: the page, each block behind a line "[NAME.cpp](NAME.cpp)" replaced by the code of that file.
filled() {
  local line name='' inside=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([a-z-]+\.cpp)\]\(([a-z-]+\.cpp)\)$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]; then
      name=${BASH_REMATCH[1]}
    fi
    if [[ $inside -eq 1 ]]; then
      [[ $line == '```' ]] || continue
      inside=0
    fi
    printf '%s\n' "$line"
    if [[ $line == '```cpp' && -n $name && -e $name ]]; then
      code "$name"
      inside=1 name=
    fi
  done <"$1"
}

if [[ ${1-} == --fill ]]; then
  for page in README.md README.zh-CN.md; do
    text=$(filled "$page")
    printf '%s\n' "$text" >"$page"
  done
  exit
fi

files=$(printf '%s\n' *.cpp)
for file in *.cpp; do
  [[ $(sed -n 1p "$file") == '// How '*'?' && -z $(sed -n 2p "$file") && $(sed -n 3p "$file") == '#include '* ]] ||
    wrong "$file does not begin with its question, a blank line and its includes"
done
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
for file in *.cpp; do
  question=$(sed -n '1s,^// ,,p' "$file")
  grep -qxF "### $question" README.md || wrong "README.md has no entry '### $question', as $file asks"
done
printf '%s snippets\n' "$(wc -l <<<"$files")"
exit $status
