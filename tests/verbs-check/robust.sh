#!/usr/bin/env bash
# Programs that are hard on whoever watches them: in each way to end, with children, left by signal handlers, unloaded,
# without rights or descriptors, with threads, for a long time, in a debugger. Nothing crashes or hangs, the program's exit
# status stays, and what can be said is said.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device
command -v gdb >/dev/null || { printf 'gdb is not installed (./lab test installs it)\n'; exit 77; }

check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
sources=$LAB_ROOT/tests/verbs-check/robust
shared=$(mktemp -d "$programs/robust.XXXXXX") # below the checkout: the host sees it
trap 'clean_up "$shared"' EXIT

gcc -O1 -o "$shared/plain" "$sources/plain.c" -libverbs
gcc -O1 -no-pie -s -o "$shared/stripped" "$sources/plain.c" -libverbs
mkdir "$shared/with blank"
gcc -g -o "$shared/with blank/pro gram" "$sources/plain.c" -libverbs
printf 'int robust_other = 1;\n' | gcc -shared -fPIC -x c -o "$shared/other.so" -

# All in one go; "=== NAME STATUS" ends the output of each. A run that hangs is ended, with status 124.
limit=$(scaled 60)
# shellcheck disable=SC2016 # expanded on the host
start host server bash -c '
  check=$1 programs=$2 shared=$3 limit=$4 tsan=$5
  try() {
    local name=$1 status=0
    shift
    timeout "$limit" "$@" >/tmp/robust.out 2>&1 || status=$?
    cat /tmp/robust.out
    echo "=== $name $status"
  }
  # What verbs-check --exit-code 66 does, which starts several processes before the program.
  watched() { try "$1" env LD_PRELOAD="${check%/*}/libverbs-check.so" VERBS_CHECK_EXIT_CODE=66 "${@:2}"; }
  for way in exit thread quick_exit _exit abort fault own-handler sent heap; do
    watched "ends:$way" "$programs/robust-ends" $way
  done
  for kind in exit own parents exec vfork spawn clean; do
    watched "children:$kind" "$programs/robust-children" $kind
  done
  for way in exit jump; do watched "signals:$way" "$programs/robust-signals" $way; done
  for what in chroot setuid descriptors; do watched "rights:$what" "$programs/robust-rights" $what; done
  try rights:closed "$check" --trace /tmp/robust.closed -- "$programs/robust-rights" closed
  watched plugin "$programs/robust-plugin" "$programs/librobust-module.so"
  watched plugin:twice "$programs/robust-plugin" "$programs/librobust-module.so" too
  watched threads "$programs/robust-threads" 50
  watched memory "$programs/robust-memory" 3000
  watched plain "$shared/plain"
  watched stripped "$shared/stripped"
  watched blank "$shared/with blank/pro gram"
  try preload env LD_PRELOAD="$shared/other.so" "$check" --exit-code 66 -- "$shared/with blank/pro gram"
  try closed sh -c "exec \"\$@\" 2>&-" sh "$check" --exit-code 66 --trace /tmp/robust.trace -- "$programs/robust-ends" exit
  if grep -v "^{.*}$" /tmp/robust.trace; then echo "no trace any more"; fi
  try gone bash -c "\"\$@\" 2> >(exec 0<&-; sleep 0.1); exit \$?" bash "$check" -- "$programs/robust-ends" exit
  try full "$check" --trace /dev/full -- "$programs/robust-ends" exit
  # The hosts hide the drivers of all other vendors.
  try drivers unshare --mount sh -c "umount /etc/libibverbs.d; exec \"\$@\"" sh "$check" --exit-code 66 -- "$programs/robust-ends" exit
  watched gdb gdb -batch -ex run "$programs/robust-children"
  # ThreadSanitizer wants to be the first library, as AddressSanitizer does.
  rm -f /tmp/robust.tsan
  try tsan env LD_PRELOAD="$tsan:$programs/libverbs-check-tsan.so" TSAN_OPTIONS=exitcode=67 VERBS_CHECK_TRACE=/tmp/robust.tsan \
    "$programs/robust-threads-tsan" 20
  try tsan:trace grep -c "\"verb\":\"ibv_post_send\"" /tmp/robust.tsan
' bash "$check" "$programs" "$shared" "$limit" "$(g++ -print-file-name=libtsan.so.2)"
finish host
expect_status 0
cp "$WORK/out" "$WORK/all"

# place FILE MARK: the line of the program that ends with "here: MARK", as findings name it.
place() { printf 'main, %s:%s\n' "$1" "$(grep -nE "here: $2( \*/)?\$" "$sources/$1" | cut -d : -f 1)"; }
busy=$(place ends.cpp busy)

for way in exit thread quick_exit; do
  ended "ends:$way" 66
  expect_out "^verbs-check: \[busy\] came 2 times at $busy\$"
  expect_out '^verbs-check: \[leak\] MR #1 was never destroyed$'
  expect_out '^verbs-check: 4 finding\(s\)$'
done
# It ends without a word, but what was found was said when it was found.
ended ends:_exit 3
expect_out "^verbs-check:   where:   $busy\$"
expect_no_out 'leak'
# Of a signal it dies all the same, and what lives then is no leak.
for way in abort:134 fault:139 sent:139 heap:134; do
  ended "ends:${way%:*}" "${way#*:}"
  expect_out "^verbs-check: \[busy\] came 2 times at $busy\$"
  expect_out '^verbs-check: 1 finding\(s\)$'
  expect_no_out 'leak'
done
ended ends:own-handler 139
expect_out '^own handler$'

for kind in exit parents exec vfork spawn clean; do
  ended "children:$kind" 0
  expect_out '^child: 0$'
  expect_no_out 'verbs-check'
done
ended children:own 66 # that of the child, which the parent passes on
expect_out "^verbs-check:   where:   $(place children.cpp own)\$"
expect_out '^verbs-check: 2 finding\(s\)$'
expect_out '^child: 66$'

ended signals:exit 66
expect_out '^verbs-check: \[leak\] channel #1 '
ended signals:jump 66
expect_out '^after the jump$'
expect_out "PD #1 \(made in $(place signals.cpp leak)\)"

for what in chroot setuid; do # the debug information is out of reach then
  ended "rights:$what" 66
  expect_out '^verbs-check: \[busy\] PD #1 '
  expect_out '^verbs-check:   where:   .*robust-rights\+0x'
done
ended rights:descriptors 66
expect_out '^verbs-check: \[busy\] PD #1 '
ended rights:closed 0
expect_out "^verbs-check:   where:   $(place rights.cpp busy)\$"

for name in plugin plugin:twice; do
  ended $name 66
  expect_out '^made: 1$'
  expect_out '^verbs-check: \[leak\] PD #1 was never destroyed$'
done
ended threads 0
expect_out '^200 messages$'
expect_no_out 'verbs-check'
ended memory 66
expect_out '^verbs-check: \[busy\] came 3000 times '
expect_out '^grown by [0-9]{1,3} KiB$'

for name in plain stripped; do
  ended $name 66
  expect_out '^made: 1$'
  expect_out "^verbs-check:   where:   .*, $name\+0x[0-9a-f]+\$"
done
for name in blank preload; do
  ended $name 66
  expect_out "^verbs-check:   where:   $(place plain.c leak)\$"
done

ended closed 66
expect_no_out 'verbs-check'
expect_no_out 'no trace'
ended gone 3
ended full 3
expect_out '^verbs-check: 4 finding\(s\)$'
ended drivers 66
expect_out '^verbs-check: 4 finding\(s\)$'
ended gdb 0
expect_out '^child: 0$'
expect_out 'exited normally'
ended tsan 0
expect_out '^80 messages$'
expect_no_out 'WARNING|verbs-check'
ended tsan:trace 0 # the checker was there
expect_out '^80$'
