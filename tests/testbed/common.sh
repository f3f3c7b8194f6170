# shellcheck shell=bash disable=SC2034
# What the testbed's tests share. Sourced, never run; a test ends with exit $failed.
set -euo pipefail

LAB_ROOT=${LAB_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
LAB_CACHE=${LAB_CACHE:-${LAB_STATE:-$LAB_ROOT/.lab}/cache}
export LAB_ROOT LAB_CACHE LAB_ON=testbed
lab=$LAB_ROOT/lab
failed=0

# check WHAT WANTED SEEN: counts and reports a difference.
check() {
  if [[ $2 == "$3" ]]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\n  wanted: %q\n  seen:   %q\n' "$1" "$2" "$3"
    failed=1
  fi
}

# holds WHAT COMMAND...: the command must succeed.
holds() {
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failed=1
  fi
}

fails() { ! "$@"; }

# within SECONDS COMMAND...: the command succeeds sooner or later.
within() {
  local deadline=$((SECONDS + $1 * ${LAB_TIME_SCALE:-1}))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

# own_states COUNT: a temp folder with state folders 1..COUNT; their hosts are stopped and all is removed at the end.
own_states() {
  temp=$(mktemp -d)
  trap own_states_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  local number
  for ((number = 1; number <= $1; ++number)); do mkdir "$temp/$number"; done
}

own_states_end() {
  local state
  for state in "$temp"/*/; do LAB_STATE=${state%/} "$lab" down >/dev/null 2>&1 || true; done
  rm -rf "$temp"
}

# pid_of STATE HOST: of a host that is up, from what ./lab status says.
pid_of() { LAB_STATE=$1 "$lab" status | sed -n "s/^$2: up, process \([0-9]*\),.*/\1/p"; }

# alive PID: the process exists and is no zombie.
alive() { [[ -n $1 && -e /proc/$1/exe ]]; }
