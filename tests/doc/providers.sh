#!/usr/bin/env bash
# The column "Soft-RoCE" of docs/providers.md and of its Chinese twin is what tools/deviations measures on the testbed: each
# row has its line, each line its row, in the same words.
set -euo pipefail
# shellcheck source=tests/lib.sh
. "${LAB_ROOT:?}/tests/lib.sh"
cd "$LAB_ROOT"

place=$(. "$LAB_ROOT/tools/lib.sh"; . "$LAB_ROOT/tools/place.sh"; place)
if [[ $place != testbed ]]; then
  printf 'the page has what was measured on the testbed, and programs run on %s here\n' "$place"
  exit 77
fi
require_device
RUN_LIMIT=200
on server build/tools/deviations/deviations
expect_status 0
expect_no_err
kernel=$(sed -nE 's/^measured on: .*, Linux ([0-9]+\.[0-9]+).*/\1/p' "$WORK/out")
if ! grep -qF "**Linux $kernel," docs/providers.md; then
  printf 'the page is about another kernel than Linux %s\n' "$kernel"
  exit 77
fi

# "ID => WHAT HAPPENED", of the program and of a page.
sed -nE 's/^([a-z0-9-]+): .* => (.*)$/\1 => \2/p' "$WORK/out" | sort >"$WORK/measured"
rows() {
  awk -F ' [|] ' '/^[|] [*]*`[a-z0-9-]+`[*]*<br>/ {
    split($1, id, "`")
    gsub(/^`|`$/, "", $3)
    print id[2] " => " $3
  }' "$1"
}

status=0
for page in docs/providers.md docs/providers.zh-CN.md; do
  rows "$page" | sort >"$WORK/rows"
  if ! diff -u "$WORK/rows" "$WORK/measured" >"$WORK/difference"; then
    printf '%s is not what build/tools/deviations/deviations measures (- page, + measured):\n' "$page"
    grep -E '^[-+]' "$WORK/difference" | tail -n +3
    status=1
  fi
done
printf '%s measurements\n' "$(wc -l <"$WORK/measured")"
exit $status
