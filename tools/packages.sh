# shellcheck shell=bash
# Installing what is missing, with the distribution's package manager.

# What building the programs needs, and running them: the guest uses the libraries of this machine.
packages_build=(g++ cmake ninja-build libibverbs-dev librdmacm-dev libcli11-dev libgtest-dev libdw-dev nlohmann-json3-dev
  ibverbs-providers ibverbs-utils iproute2)

# packages_missing PACKAGE...: prints those that are not installed. One question for all: this is on every command's way.
packages_missing() {
  local package installed
  # shellcheck disable=SC2016 # the format is dpkg-query's
  installed=$'\n'$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)$'\n'
  # A package may be wanted for two reasons; it is named once.
  for package in $(printf '%s\n' "$@" | sort -u); do
    [[ $installed == *$'\n'"installed $package"$'\n'* ]] || printf '%s\n' "$package"
  done
}

# packages_need PACKAGE...: installs those that are missing, or says how and ends.
packages_need() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this machine has no apt-get. ./lab installs packages on Debian and Ubuntu only; elsewhere install what these" \
      "Debian packages contain by hand: $*"
  fi
  local missing
  mapfile -t missing < <(packages_missing "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local install=(apt-get install -y --no-install-recommends "${missing[@]}") as_root=()
  if [[ $EUID -ne 0 ]]; then
    # Without a terminal sudo could not ask for a password.
    if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
      say "packages are missing and this user cannot install them. Run this as root, then try again:"
      printf 'apt-get update && %s\n' "${install[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi

  lib_make_state
  local log=$LAB_STATE/apt.log
  say "${as_root[*]:+${as_root[*]} }${install[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # Package lists that are missing or stale are the usual reason for a failure: refresh them and try once more.
  if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! "${as_root[@]}" "${install[@]}" >"$log" 2>&1; then
    say "${as_root[*]:+${as_root[*]} }apt-get update"
    "${as_root[@]}" apt-get update >"$log" 2>&1 || packages_failed "apt-get update" "$log"
    "${as_root[@]}" "${install[@]}" >"$log" 2>&1 || packages_failed "apt-get install" "$log"
  fi
}

packages_failed() {
  tail -n 15 "$2" >&2
  fail "$1 failed (its last lines are above, all of it in $2)"
}
