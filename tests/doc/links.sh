#!/usr/bin/env bash
# Every relative link of the prose leads to a file that is there, and to a heading that is in it. Links to other sites are
# not followed: this test needs no network.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"

cd "$LAB_ROOT"

# links FILE: "LINE TARGET" of each link outside of code.
links() {
  awk '
    /^ *```/ { code = !code }
    code { next }
    {
      gsub(/`[^`]*`/, "")
      while (match($0, /\]\([^() ]*(\([^() ]*\)[^() ]*)*\)/)) {
        print FNR, substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
      }
      if (match($0, /^\[[^]]+\]: */)) {
        print FNR, substr($0, RLENGTH + 1)
      }
    }' "$1"
}

# anchors FILE: those of its headings, as GitHub makes them: lower case, punctuation dropped, blanks to hyphens, a number
# after the second of a name.
# shellcheck disable=SC1112 # the quotes of Chinese headings are meant
anchors() {
  awk '/^ *```/ { code = !code } !code && sub(/^#+ +/, "")' "$1" |
    sed -E 's/\]\([^)]*\)//g; s/[`*]//g; s/ +$//' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[]!"#$%&'"'"'()+,.\/:;<=>?@\\^{|}~[]//g; s/，|。|：|；|、|？|！|“|”|‘|’|（|）|《|》|【|】|…|—//g; s/ /-/g' |
    awk '{ print seen[$0]++ ? $0 "-" (seen[$0] - 1) : $0 }'
}

status=0
count=0
while IFS= read -r page; do
  while read -r line target; do
    count=$((count + 1))
    case $target in
      '' ) printf '%s:%s: an empty link\n' "$page" "$line"; status=1; continue ;;
      [a-z]*:*) continue ;; # http:, https:, mailto:
      /*) printf '%s:%s: %s is absolute\n' "$page" "$line" "$target"; status=1; continue ;;
    esac
    file=${target%%#*}
    case $file in
      '') path=$page ;;
      *) path=$(dirname "$page")/$file ;;
    esac
    if [[ ! -e $path ]]; then
      printf '%s:%s: %s is not there\n' "$page" "$line" "$target"
      status=1
    elif [[ $target == *'#'* && $path == *.md ]] && ! anchors "$path" | grep -xF -- "${target#*#}" >/dev/null; then
      printf '%s:%s: %s: there is no such heading\n' "$page" "$line" "$target"
      status=1
    fi
  done < <(links "$page")
done < <(files '*.md')
printf '%s links\n' "$count"
exit $status
