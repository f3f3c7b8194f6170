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
  if ! build_is_configured "$folder"; then
    say "configuring ($preset)"
    cmake --preset "$preset" >"$log" 2>&1 9>&- || build_failed "$log"
  fi
  : >"$log"
  build_say "$preset" "$log" $BASHPID 9>&- &
  local notice=$! status=0
  cmake --build "$folder" ${1:+--target "$@"} >"$log" 2>&1 9>&- || status=$?
  kill "$notice" 2>/dev/null || true
  wait "$notice" 2>/dev/null || true
  [[ $status -eq 0 ]] || build_failed "$log"
}

# build_is_configured FOLDER: with what there is now. clang++, which only tests need, may have come since.
build_is_configured() {
  [[ -f $1/build.ninja ]] && { ! grep -q '^LAB_CLANGXX:.*-NOTFOUND$' "$1/CMakeCache.txt" || ! type -P clang++ >/dev/null; }
}

# build_say PRESET LOG SHELL: says so as soon as the log shows that there is something to build. ninja -n cannot tell beforehand:
# to it the search for new files is work.
build_say() {
  # It ends with the shell that builds, and starts no process that could outlive it.
  until [[ $(<"$2") =~ \]\ (Building|Linking)\  ]]; do
    kill -0 "$3" 2>/dev/null || return 0
    read -rt 0.2 _ <> <(:) || true
  done
  say "building ($1)"
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
