# shellcheck shell=bash
# ./lab doctor: what this machine has for RDMA, what it lacks, and the exact fix for each. Changes nothing, needs no
# root. Sourced after lib, packages and place, never run.
#
# Everything of the system is read below LAB_SYSROOT (empty unless set), and what files do not say comes from the small
# functions that follow, so that the tests can show it other machines.

# shellcheck source=tools/doctor/machine.sh
. "${BASH_SOURCE[0]%/*}/doctor/machine.sh"
# shellcheck source=tools/doctor/kernel.sh
. "${BASH_SOURCE[0]%/*}/doctor/kernel.sh"
# shellcheck source=tools/doctor/files.sh
. "${BASH_SOURCE[0]%/*}/doctor/files.sh"
# shellcheck source=tools/doctor/provider.sh
. "${BASH_SOURCE[0]%/*}/doctor/provider.sh"
# shellcheck source=tools/doctor/ports.sh
. "${BASH_SOURCE[0]%/*}/doctor/ports.sh"
# shellcheck source=tools/doctor/limits.sh
. "${BASH_SOURCE[0]%/*}/doctor/limits.sh"
# shellcheck source=tools/doctor/decision.sh
. "${BASH_SOURCE[0]%/*}/doctor/decision.sh"

doctor_uid() { printf '%s\n' "$EUID"; }
doctor_user() { id -un; }
doctor_machine() { uname -m; }
doctor_release() { uname -r; }
doctor_memlock() { ulimit -l; } # KiB, or "unlimited"
doctor_has_command() { command -v "$1" >/dev/null; }

# Without a terminal sudo could not ask for a password.
doctor_sudo_works() { [[ -t 0 ]] || sudo -n true 2>/dev/null; }

# doctor_addresses NETDEV: its IPv4 addresses and its global IPv6 ones. A link-local one is not what people configure.
doctor_addresses() {
  { ip -o -4 address show dev "$1" && ip -o -6 address show dev "$1" scope global; } 2>/dev/null |
    awk '{ sub("/.*", "", $4); print $4 }'
}

doctor_memlock_wanted=65536 # KiB; the chapters register less, real programs often more

# Lines on which the tests and the reader can rely: the first word says what kind of line it is.
doctor_ok() { printf 'ok    %s\n' "$1"; }
doctor_note() { printf 'note  %s\n' "$1"; }

# doctor_fix TEXT WHY DO: something is wrong, its likely cause, and the command or edit against it.
doctor_fix() {
  doctor_fixes=$((doctor_fixes + 1))
  printf 'fix   %s\n        why: %s\n        do:  %s\n' "$1" "$2" "$3"
}

# doctor_read FILE: sets REPLY to its first line; fails where there is none. No process is started for it: a GID table has
# hundreds of files.
doctor_read() {
  REPLY=
  { read -r REPLY || [[ -n $REPLY ]]; } 2>/dev/null <"$1"
}

# doctor_capable BIT: may this process do what the capability of that number allows? Root in a container often may not.
doctor_capable() {
  local key value
  while read -r key value; do
    [[ $key != CapEff: ]] || return $((!((16#$value >> $1) & 1)))
  done 2>/dev/null <"$doctor_root/proc/self/status" || true
  [[ $(doctor_uid) -eq 0 ]]
}
doctor_cap_net_admin=12 doctor_cap_ipc_lock=14 doctor_cap_sys_module=16

doctor() {
  [[ $# -eq 0 ]] || usage_error "doctor takes no arguments"
  doctor_root=${LAB_SYSROOT-}
  doctor_fixes=0
  # Devices which place_usable_device would take although programs cannot use them.
  doctor_broken=()
  printf 'What this machine itself has for RDMA; the testbed needs none of it. The last lines say what is used.\n\n'
  doctor_check_machine
  doctor_check_rdma
  doctor_check_memlock
  doctor_check_packages
  printf '\n'
  doctor_decide
}
