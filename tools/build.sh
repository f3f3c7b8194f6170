# shellcheck shell=bash
# Configuring and building with the CMake presets.

# build PRESET [TARGET...]: builds, all unless targets are named. Quiet when it goes well; shows the log when not.
# Under a lock, because two ninja in one folder disturb each other.
build() { with_lock build build_locked "$@"; }

build_locked() {
  local preset=$1 folder log=$LAB_STATE/build.log
  shift
  folder=$(build_folder "$preset")
  cd "$LAB_ROOT"
  if [[ ! -f $folder/build.ninja ]]; then
    say "configuring ($preset)"
    cmake --preset "$preset" >"$log" 2>&1 9>&- || build_failed "$log"
  fi
  # ninja -n: is there anything to do? Saying "building" when there is not would only be noise.
  if [[ $(ninja -C "$folder" -n "${@:-all}" 2>/dev/null) != *"no work to do"* ]]; then
    say "building ($preset)"
    cmake --build "$folder" ${1:+--target "$@"} >"$log" 2>&1 9>&- || build_failed "$log"
  fi
}

build_failed() {
  tail -n 40 "$1" >&2
  fail "the build failed (its last lines are above, all of it in $1)"
}

# build_folder PRESET: where the preset builds, as CMakePresets.json says.
build_folder() {
  case $1 in
    default) printf '%s\n' "$LAB_ROOT/build" ;;
    *) printf '%s\n' "$LAB_ROOT/build/$1" ;;
  esac
}
