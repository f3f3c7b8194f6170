#!/usr/bin/env bash
# Every diagram (docs/diagrams/NAME.svg) can be read everywhere: it has a title and a description, colours for both themes, needs
# nothing from elsewhere, and its text is large enough on a phone. NAME.zh-CN.svg is the same drawing with other words. Each is
# shown on a page of its language, with an alternative text.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
cd "$LAB_ROOT"

status=0
wrong() {
  printf '%s\n' "$*"
  status=1
}

# A phone of 390 pixels has about 358 for a picture: 400 units become 0.9 pixels each, and a text of 12 units 10.7 pixels high.
widest=400
smallest=12

# drawing FILE: all but the words, and the language.
drawing() { sed -E 's,(<(title|desc|text)[^>]*>)[^<]*</,\1</,; s, xml:lang="[^"]*",,' "$1"; }

# shown_in FILE PAGE...: one of the pages shows it.
shown_in() {
  local name=${1##*/}
  shift
  grep -qsE "!\[[^]]{40,}\]\(([^)]*/)?diagrams/${name//./\\.}\)" "$@"
}

mapfile -t diagrams < <(files 'docs/diagrams/*.svg')
mapfile -t pages < <(files '*.md')
((${#diagrams[@]} > 0)) || wrong 'there is no diagram'
for file in "${diagrams[@]}"; do
  if command -v xmllint >/dev/null && ! xmllint --noout "$file"; then wrong "$file is not well-formed"; fi
  grep -qE '<title id="title">[^<]+</title>' "$file" || wrong "$file has no title"
  grep -qE '<desc id="desc">[^<]{80,}</desc>' "$file" || wrong "$file has no description of 80 characters or more"
  grep -q 'prefers-color-scheme: dark' "$file" || wrong "$file has no colours for the dark theme"
  # Where no style is applied, dark text must not stand on a dark page.
  grep -q 'class="paper" fill="#ffffff"' "$file" || wrong "$file has no background of its own"
  if grep -nE '(href|src)=|@import|@font-face|<image|url\([^#]' "$file"; then wrong "$file needs something from elsewhere"; fi
  width=$(sed -nE '1s/.*viewBox="0 0 ([0-9]+) .*/\1/p' "$file")
  [[ -n $width && $width -le $widest ]] || wrong "$file is ${width:-?} units wide; at most $widest"
  small=$(grep -oE 'font-size="[0-9.]+"' "$file" | tr -dc '0-9.\n' | awk -v least=$smallest '$1 < least' | sort -u)
  [[ -z $small ]] || wrong "$file has text of size ${small//$'\n'/, }; at least $smallest"

  case $file in
    *.zh-CN.svg)
      english=${file%.zh-CN.svg}.svg
      diff <(drawing "$english") <(drawing "$file") || wrong "$file (>) is another drawing than $english (<)"
      mapfile -t where < <(printf '%s\n' "${pages[@]}" | grep '\.zh-CN\.md$')
      ;;
    *)
      [[ -e ${file%.svg}.zh-CN.svg ]] || wrong "$file has no Chinese twin"
      mapfile -t where < <(printf '%s\n' "${pages[@]}" | grep -v '\.zh-CN\.md$')
      ;;
  esac
  shown_in "$file" "${where[@]}" || wrong "no page of its language shows $file with an alternative text of 40 characters or more"
done
mapfile -t chinese < <(printf '%s\n' "${pages[@]}" | grep '\.zh-CN\.md$')
if grep -nE '!\[.*diagrams/[a-z-]+\.svg\)' "${chinese[@]}"; then wrong 'a Chinese page shows an English diagram'; fi
printf '%s diagrams\n' "${#diagrams[@]}"
exit $status
