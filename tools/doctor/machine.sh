# shellcheck shell=bash
# Part of ./lab doctor. Looks at the machine itself: architecture, container, package manager.

doctor_check_machine() {
  local machine
  machine=$(doctor_machine)
  doctor_release_name=$(doctor_release)
  doctor_container=$(doctor_find_container)
  # How the commands below become root.
  if [[ $(doctor_uid) -eq 0 ]]; then
    doctor_as_root=
  elif doctor_has_command sudo; then
    doctor_as_root='sudo '
  else
    doctor_as_root='as root: '
  fi

  doctor_testbed_machine=yes
  if [[ $machine == x86_64 ]]; then
    doctor_ok "machine: $machine, Linux $doctor_release_name${doctor_container:+, in a container ($doctor_container)}"
  else
    doctor_testbed_machine=
    doctor_fix "machine: $machine; the testbed runs on x86_64 only" \
      "its hosts are x86_64 machines which run the programs built here" \
      "use an x86_64 machine, or a device of this one: ./lab --on host, or as root ./lab --on host-rxe"
  fi

  doctor_can_install='' doctor_has_apt=yes
  if ! doctor_has_command apt-get || ! doctor_has_command dpkg-query; then
    doctor_has_apt=
    # shellcheck disable=SC2154 # packages_build is in packages.sh
    doctor_fix "packages: this machine has no apt-get" \
      "./lab installs packages on Debian and Ubuntu only" \
      "install by hand what these Debian packages contain: ${packages_build[*]}; then build without ./lab:\
 cmake --preset default && cmake --build build"
  elif [[ $(doctor_uid) -eq 0 ]] || { doctor_has_command sudo && doctor_sudo_works; }; then
    doctor_can_install=yes
  fi
}

# doctor_find_container: prints what tells that this is a container, or nothing.
doctor_find_container() {
  local mark line
  for mark in /.dockerenv /run/.containerenv; do
    if [[ -e $doctor_root$mark ]]; then
      printf '%s\n' "$mark"
      return
    fi
  done
  while read -r line; do
    if [[ $line =~ docker|kubepods|containerd|libpod|/lxc ]]; then
      printf '/proc/1/cgroup: %s\n' "${BASH_REMATCH[0]}"
      return
    fi
  done 2>/dev/null <"$doctor_root/proc/1/cgroup" || true
}
