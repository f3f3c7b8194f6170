#!/usr/bin/env bash
# What docs/book-map.md says that a command prints, it prints. In the column "run" of its tables the first piece of code of
# a cell is the command, the others are pieces of one line each of what it prints: blanks count once, "..." stands for
# anything. "deviations ID..." is build/tools/deviations/deviations with these ids; there the piece is what stands behind "=>".
# The Chinese twin has the same commands and the same pieces.
set -euo pipefail
# shellcheck source=tests/lib.sh
. "${LAB_ROOT:?}/tests/lib.sh"
cd "$LAB_ROOT"

status=0
wrong_row() {
  printf '%s\n' "$*"
  status=1
}

# cells PAGE: "LINE<tab>COMMAND<tab>PIECE..." of each row that has a command.
cells() {
  awk -F ' [|] ' '/^### / { inside = 1 } /^## / { inside = 0 } inside && /^[|]/ && NF == 5 {
    n = split($4, part, "`")
    if (n < 4) next
    printf "%d", FNR
    for (i = 2; i <= n; i += 2) printf "\t%s", part[i]
    print ""
  }' "$1"
}
cells docs/book-map.md >"$WORK/cells"
[[ -s $WORK/cells ]] || wrong_row 'docs/book-map.md names no command'
diff <(cut -f 2- "$WORK/cells") <(cells docs/book-map.zh-CN.md | cut -f 2-) ||
  wrong_row 'docs/book-map.zh-CN.md (>) has other commands than docs/book-map.md (<)'

place=$(. "$LAB_ROOT/tools/lib.sh"; . "$LAB_ROOT/tools/place.sh"; place)
if [[ $place != testbed ]]; then
  printf 'the page has what was run on the testbed, and programs run on %s here\n' "$place"
  [[ $status -eq 0 ]] || exit 1
  exit 77
fi
require_device

# What the commands print, each run once, in one file for each. All of the measurements are made by one run.
mapfile -t ids < <(cut -f 2 "$WORK/cells" | sed -n 's/^deviations //p' | tr ' ' '\n' | sort -u)
RUN_LIMIT=120
on server build/tools/deviations/deviations "${ids[@]}"
expect_status 0
cp "$WORK/out" "$WORK/measured"
declare -A printed=()
while IFS= read -r command; do
  file=$WORK/printed-${#printed[@]}
  printed[$command]=$file
  timeout "$(scaled 120)" bash -c "$command" </dev/null 2>&1 | tr -s ' \t' ' ' >"$file" || true
done < <(cut -f 2 "$WORK/cells" | grep -v '^deviations ' | sort -u)

# matches PIECE FILE
matches() {
  local pattern
  pattern=$(sed -E 's/[][\\.*^$+?(){}|]/\\&/g; s/\\\.\\\.\\\./.*/g' <<<"$1")
  grep -qE -- "$pattern" "$2"
}

count=0
while IFS=$'\t' read -r line command pieces; do
  IFS=$'\t' read -ra wanted <<<"$pieces"
  for piece in "${wanted[@]}"; do
    count=$((count + 1))
    if [[ $command == deviations\ * ]]; then
      read -ra names <<<"${command#deviations }"
      # Of each id the line, without what was done.
      for id in "${names[@]}"; do sed -n "s/^$id: .* => //p" "$WORK/measured"; done >"$WORK/lines"
      grep -qxF -- "$piece" "$WORK/lines" ||
        wrong_row "docs/book-map.md:$line: $command does not print '$piece', but: $(<"$WORK/lines")"
    elif ! matches "$piece" "${printed[$command]}"; then
      wrong_row "docs/book-map.md:$line: $command does not print '$piece', but:"
      sed 's/^/  /' "${printed[$command]}"
    fi
  done
done <"$WORK/cells"
printf '%s pieces of output, %s commands\n' "$count" "$((${#printed[@]} + 1))"
exit $status
