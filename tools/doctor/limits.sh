# shellcheck shell=bash
# Part of ./lab doctor. Looks at the limit of locked memory and at the packages.

doctor_check_memlock() {
  local limit why fix
  limit=$(doctor_memlock)
  if [[ $limit == unlimited || $limit -ge $doctor_memlock_wanted ]]; then
    doctor_ok "locked memory: $limit$([[ $limit == unlimited ]] || echo ' KiB')"
    return
  fi
  if doctor_capable "$doctor_cap_ipc_lock"; then
    doctor_ok "locked memory: $limit KiB, but this user (root) is exempt"
    return
  fi
  if [[ $doctor_devices -eq 0 ]]; then
    doctor_note "locked memory: $limit KiB; enough for the testbed, where programs are root; too little for a device here"
    return
  fi
  why="registered memory is locked; beyond the limit ibv_reg_mr fails with ENOMEM (errno 12), also with plenty of memory free"
  if [[ -n $doctor_container ]]; then
    fix="start the container with --ulimit memlock=-1"
  else
    fix="add the line '* - memlock unlimited' to /etc/security/limits.conf; it applies to new logins only:\
 log out and in again, then look with ulimit -l in the shell that starts the program"
  fi
  doctor_fix "locked memory: the limit is $limit KiB, less than $doctor_memlock_wanted KiB" "$why" "$fix"
}

# Sets doctor_build_ready and doctor_testbed_ready: the packages are there, or can be installed.
doctor_check_packages() {
  local packages
  doctor_build_ready=yes doctor_testbed_ready=yes
  doctor_check_package_list "to build and run" "${packages_build[@]}" || doctor_build_ready=
  mapfile -t packages < <(testbed_packages)
  doctor_check_package_list "for the testbed" "${packages[@]}" || doctor_testbed_ready=
}

doctor_check_package_list() {
  local what=$1 missing why
  shift
  # Said already, with its fix.
  [[ -n $doctor_has_apt ]] || return 1
  mapfile -t missing < <(packages_missing "$@")
  if [[ ${#missing[@]} -eq 0 ]]; then
    doctor_ok "packages $what: all $# installed"
  elif [[ -n $doctor_can_install ]]; then
    doctor_note "packages $what: ./lab will install ${missing[*]}"
  else
    if doctor_has_command sudo; then
      why="sudo wants a password, and there is no terminal to ask for it"
    else
      why="this user is not root, and there is no sudo"
    fi
    doctor_fix "packages $what are missing: ${missing[*]}" "$why" \
      "as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    return 1
  fi
}
