#!/usr/bin/env bash
# What a page shows of a run is what the run prints, numbers apart. output.sh PAGE
#
# In a ```console block each line "$ ./lab run|pingpong|exec ..." is run; the lines up to the next "$ " are what it has to
# print, on standard output and standard error together. A line "..." stands for any lines; where the lines are marked
# "server: " and "client: ", write "server: ...". Other commands are not run.
set -euo pipefail
page=$1
# shellcheck source=tests/lib.sh
. "${LAB_ROOT:?}/tests/lib.sh"
shopt -s extglob

cd "$LAB_ROOT"
if ! grep -qs '^```console$' "$page"; then
  printf '%s shows no run\n' "$page"
  exit 0
fi
place=$(. "$LAB_ROOT/tools/lib.sh"; . "$LAB_ROOT/tools/place.sh"; place)
if [[ $place != testbed ]]; then
  printf 'the pages show runs on the testbed, and programs run on %s here\n' "$place"
  exit 77
fi
require_device

# compared: makes two runs comparable. Numbers, GIDs, GUIDs, address records and runs of blanks become equal; letters
# with a digit behind them (rxe0, v2) stay. What ./lab itself says depends on what was there before. The two sides of a
# run, and the two streams of a side, have no common order: they are put one behind the other.
compared() {
  sed -E '
    /^((server|client): )?lab: /d
    s/[ \t]+$//
    s/\b[0-9a-f]{4}(:[0-9a-f]{6}){2}:[0-9a-f]{32}\b/RECORD/g
    s/\b(fe80:|[0-9a-f]{1,4})(::?[0-9a-f]{1,4}){2,7}\b/ADDRESS/g
    s/\b0x[0-9a-f]+/0xN/g
    s/(^|[^A-Za-z0-9_])[0-9]+(\.[0-9]+)*(e[-+][0-9]+)?/\1N/g
    s/(software emulation \(no KVM\)|KVM)$/ACCELERATION/
    s/ +/ /g' |
    awk '
      { part = /^server: / ? 2 : /^client: / ? 3 : 1 }
      /^(server: |client: )?error: / { part += 3 }
      { text[part] = text[part] $0 "\n" }
      END { for (part = 1; part <= 6; part++) printf "%s", text[part] }' |
    sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' # without blank lines at the end
}

# pattern: the lines of standard input as a pattern in which elisions match any number of lines.
pattern() {
  local line result=
  while IFS= read -r line; do
    case $line in
      ... | 'server: ...' | 'client: ...') result+='?(*'$'\n'')' ;;
      *) result+=$(printf '%q' "$line")$'\n' ;;
    esac
  done
  printf '%s' "$result"
}

awk -v work="$WORK/" '
  /^```/ { console = !inside && $0 == "```console"; inside = !inside; file = ""; next }
  !console { next }
  sub(/^\$ /, "") {
    file = ""
    if (/^\.\/lab (run|pingpong|exec) /  || /^\.\/lab pingpong$/) {
      name = sprintf("%s%02d", work, ++count)
      print FNR ":" $0 >(name ".command")
      file = name ".expected"
      printf "" >file
    }
    next
  }
  file { print >file }' "$page"

status=0
for command in "$WORK"/*.command; do
  [[ -e $command ]] || continue
  line=$(<"$command")
  words=${line#*:}
  expected=$WORK/expected
  actual=$WORK/actual
  compared <"${command%.command}.expected" >"$expected"
  timeout "$(scaled 120)" bash -c "$words" </dev/null >"$WORK/raw" 2>&1 || true
  compared <"$WORK/raw" >"$actual"
  text=$(<"$actual")
  # shellcheck disable=SC2053 # a pattern
  if [[ $text$'\n' == $(pattern <"$expected")?($'\n') ]]; then
    printf 'as shown: %s\n' "$words"
  else
    status=1
    printf '%s:%s: %s\nprints something else than is shown (- shown, + printed; numbers as N):\n' \
      "$page" "${line%%:*}" "$words"
    diff -u "$expected" "$actual" | tail -n +4 || true
    printf 'it printed:\n'
    sed 's/^/  /' "$WORK/raw"
  fi
done
exit $status
