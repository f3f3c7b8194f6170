#!/usr/bin/env bash
# Building: CMake runs the first time, and again where clang++ was not there then and is there now.
. "${LAB_ROOT:?}/tests/lib.sh"

# build CLANG: with a CMake that only writes down how it was called; CLANG is yes where there is a clang++.
cat >"$WORK/driver" <<'DRIVER'
set -euo pipefail
. "$LAB_ROOT/tools/lib.sh"
. "$LAB_ROOT/tools/build.sh"
LAB_STATE=$WORK/state LAB_ROOT=$WORK
mkdir -p "$LAB_STATE"
cmake() { echo "cmake $*" >>"$WORK/calls"; }
type() { [[ $CLANG == yes ]]; }
build default
DRIVER
export WORK
build() {
  : >"$WORK/calls"
  CLANG=$1 run bash "$WORK/driver"
  expect_status 0
}
configures() {
  COMMAND="build, $1"
  grep -q '^cmake --preset default$' "$WORK/calls" || wrong 'CMake configures'
  grep -q "^cmake --build $WORK/build\$" "$WORK/calls" || wrong 'and builds'
}
only_builds() {
  COMMAND="build, $1"
  [[ $(<"$WORK/calls") == "cmake --build $WORK/build" ]] || wrong "CMake builds; its calls were: $(<"$WORK/calls")"
}

build no
configures 'for the first time'

mkdir "$WORK/build"
touch "$WORK/build/build.ninja"
echo 'LAB_CLANGXX:FILEPATH=LAB_CLANGXX-NOTFOUND' >"$WORK/build/CMakeCache.txt"
build no
only_builds 'still without clang++'
build yes
configures 'clang++ has come'
echo 'LAB_CLANGXX:FILEPATH=/usr/bin/clang++' >"$WORK/build/CMakeCache.txt"
build yes
only_builds 'with the clang++ of the last time'
