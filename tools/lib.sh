# shellcheck shell=bash
# What every part of ./lab uses: where things are, how to speak, how to lock.
# Sourced by lab, never run. Expects LAB_ROOT: the checkout, absolute.

# Everything that ./lab creates lives below LAB_STATE, except the build. LAB_CACHE holds what is expensive to make
# and does not change (the guest kernel); several checkouts may share one.
LAB_STATE=${LAB_STATE:-$LAB_ROOT/.lab}
[[ $LAB_STATE == /* ]] || LAB_STATE=$PWD/$LAB_STATE
LAB_CACHE=${LAB_CACHE:-$LAB_STATE/cache}
[[ $LAB_CACHE == /* ]] || LAB_CACHE=$PWD/$LAB_CACHE

# say TEXT: what a long step is doing. On standard error, so that a program's own output stays clean.
say() { printf 'lab: %s\n' "$*" >&2; }

# fail TEXT: the command cannot go on.
fail() { say "$*"; exit 1; }

# usage_error TEXT: the command line is wrong.
usage_error() { say "$*"; exit 2; }

# scaled SECONDS: a deadline, stretched by LAB_TIME_SCALE (an integer, 1 unless set) for slow machines.
scaled() { printf '%s\n' $(($1 * ${LAB_TIME_SCALE:-1})); }

# lib_check_root: CMake takes these characters in the path of the checkout for its own syntax, or for a pattern.
lib_check_root() {
  local char
  for char in "'" '"' ';' '$' \\ $'\n' '*' '?' '[' ']'; do
    [[ $LAB_ROOT != *"$char"* ]] || usage_error "the path of the checkout contains the character $(printf '%q' "$char")," \
      "which CMake cannot handle: move or clone the checkout to a path without it. It is $(printf '%q' "$LAB_ROOT")"
  done
}

# lib_check_settings: what the environment says must make sense before anything counts with it.
lib_check_settings() {
  [[ ${LAB_ACCEL:-tcg} == kvm || ${LAB_ACCEL:-tcg} == tcg ]] || usage_error "LAB_ACCEL is kvm or tcg, not '$LAB_ACCEL'"
  [[ ${LAB_TIME_SCALE:-1} =~ ^[1-9][0-9]{0,3}$ ]] ||
    usage_error "LAB_TIME_SCALE is a whole number from 1 on, not '$LAB_TIME_SCALE'"
  [[ ${LAB_IDLE_MINUTES:-30} =~ ^(0|[1-9][0-9]{0,6})$ ]] ||
    usage_error "LAB_IDLE_MINUTES is a whole number, 0 for never, not '$LAB_IDLE_MINUTES'"
}

# lib_make_state: the state folder is there and can be written.
lib_make_state() {
  { mkdir -p "$LAB_STATE" && [[ -w $LAB_STATE ]]; } 2>/dev/null ||
    fail "cannot write to the state folder $LAB_STATE: make it a folder of this user, or set LAB_STATE to another one"
}

# with_lock NAME COMMAND...: runs COMMAND (a function) while no other ./lab of this state folder holds NAME.
# COMMAND runs in a subshell, so the lock ends with it; anything that it leaves running must close descriptor 9 (9>&-).
with_lock() {
  local name=$1
  shift
  lib_make_state
  (
    flock 9
    "$@"
  ) 9>"$LAB_STATE/$name.lock"
}
