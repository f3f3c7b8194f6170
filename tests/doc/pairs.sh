#!/usr/bin/env bash
# Every Chinese page beside an English one says the same: the same sections in the same order, the same code, tables, lists and
# folded answers. And it is no older: its last lines name the English sections that it was written from, each with its checksum; a
# section that has changed since must be brought up to date, or be marked with a line that begins with "> 本节落后于英文版".
#
# pairs.sh --mark PAGE...: writes these last lines anew, after the Chinese page has been brought up to date.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
cd "$LAB_ROOT"
status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}

# shape FILE: what both must have, a line each.
shape() {
  awk '
    /^<!-- written from:$/ { exit }
    /^```/ { code = !code; print; next }
    code { print "code: " $0; next }
    /^#+ / { match($0, /^#+/); level = RLENGTH; print "heading of level " level (match($0, /^#+ (Lab )?[0-9]+/) || match($0, /^#+ 实验 [0-9]+/) ? " with a number" : ""); next }
    /^\|/ { print "row of " gsub(/(^|[^\\])\|/, "") " cells"; next }
    /^ *([-*]|[0-9]+\.) / { print "item"; next }
    /^<\/?details>/ { print; next }
    /!\[/ { print "picture" }' "$1"
}

# sections FILE: "CHECKSUM TITLE" of each, what stands above the first one included.
sections() {
  local title='(top)' text='' line code=0
  while IFS= read -r line || [[ -n $line ]]; do
    [[ $line != '```'* ]] || code=$((1 - code))
    if [[ $line == '## '* && $code -eq 0 ]]; then
      section "$title" "$text"
      title=${line#\#\# } text=
    else
      text+=$line$'\n'
    fi
  done <"$1"
  section "$title" "$text"
}
section() { printf '%08x %s\n' "$(cksum <<<"$2" | cut -d ' ' -f 1)" "$1"; }

# marks FILE: those that it has.
marks() { awk '/^-->$/ { inside = 0 } inside { print } /^<!-- written from:$/ { inside = 1 }' "$1"; }

if [[ ${1-} == --mark ]]; then
  for page in "${@:2}"; do
    english=${page%.zh-CN.md}.md
    text=$(sed '/^<!-- written from:$/,$d' "$page")
    printf '%s\n\n<!-- written from:\n%s\n-->\n' "$text" "$(sections "$english")" >"$page"
  done
  exit
fi

mapfile -t pages < <(files '*.zh-CN.md')
((${#pages[@]} > 0)) || wrong 'there is no Chinese page'
for page in "${pages[@]}"; do
  english=${page%.zh-CN.md}.md
  [[ -e $english ]] || { wrong "$page: there is no $english"; continue; }
  diff <(shape "$english") <(shape "$page") >/dev/null || {
    wrong "$page is not built as $english is (<):"
    diff <(shape "$english") <(shape "$page") | head -n 10 || true
  }
  grep -qxF "[English](${english##*/})" "$page" || wrong "$page does not link to $english"
  have=$(marks "$page")
  # The sections of both, side by side: the n-th belongs to the n-th.
  number=0
  while read -r mark title; do
    ((++number))
    if ! grep -qxF "$mark $title" <<<"$have" && ! awk -v wanted="$number" '
      /^```/ { code = !code } !code && /^## / { ++number } number + 1 == wanted && /^> 本节落后于英文版/ { found = 1 } END { exit !found }' "$page"; then
      wrong "$page: section '$title' of $english has changed since it was translated; bring it up to date, then: tests/doc/pairs.sh --mark $page"
    fi
  done < <(sections "$english")
done
# These are all there.
for english in README.md chapters/*/README.md labs/*/README.md docs/labs/README.md; do
  [[ -e ${english%.md}.zh-CN.md ]] || wrong "$english has no Chinese twin"
done
printf '%s pairs\n' "${#pages[@]}"
exit $status
