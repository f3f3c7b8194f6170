#!/usr/bin/env bash
# Installing packages: which are missing, and what is said and done about it by root, with sudo, and with neither.
. "${LAB_ROOT:?}/tests/lib.sh"

# need UID PACKAGE...: packages_need with an apt-get and a sudo that only write down how they were called, seen as that user.
cat >"$WORK/need" <<'DRIVER'
set -euo pipefail
LAB_STATE=$WORK/state
. "$LAB_ROOT/tools/lib.sh"
# A plain variable in place of the read-only EUID.
. <(sed 's/\$EUID/$FAKE_UID/' "$LAB_ROOT/tools/packages.sh")
apt-get() { echo "apt-get $*" >>"$WORK/calls"; [[ $1 != install || -z ${FAIL_INSTALL-} ]]; }
apt-cache() { :; }
sudo() { [[ $1 != -n ]] || shift; "$@"; }
[[ -z ${NO_SUDO-} ]] || unset -f sudo
command() { if [[ $1 == -v && $2 == sudo && -n ${NO_SUDO-} ]]; then return 1; fi; builtin command "$@"; }
packages_need "$@"
echo went on
DRIVER
export WORK

need() {
  : >"$WORK/calls"
  FAKE_UID=$1 run bash "$WORK/need" "${@:2}"
}

calls_are() { [[ $(<"$WORK/calls") == "$1" ]] || wrong "these calls: $1; there were: $(<"$WORK/calls")"; }

# A package that every Debian has, and one that none has.
need 0 dpkg bash
expect_status 0
expect_out '^went on$'
calls_are ''

need 0 dpkg no-such-package-1 bash no-such-package-2
expect_status 0
expect_err '^lab: apt-get install -y --no-install-recommends no-such-package-1 no-such-package-2$'
calls_are 'apt-get install -y --no-install-recommends no-such-package-1 no-such-package-2'

need 1000 no-such-package-1
expect_status 0
expect_err '^lab: sudo apt-get install -y --no-install-recommends no-such-package-1$'

# Neither root nor sudo: the exact line, and the end.
NO_SUDO=1 need 1000 dpkg no-such-package-1
expect_status 1
expect_err '^apt-get update && apt-get install -y --no-install-recommends no-such-package-1$'
expect_no_out 'went on'
calls_are ''

# An installation that fails is tried once more after an update of the lists; then it is the end.
FAIL_INSTALL=1 need 0 no-such-package-1
expect_status 1
expect_err 'apt-get install failed'
expect_no_out 'went on'
calls_are $'apt-get install -y --no-install-recommends no-such-package-1\napt-get update\napt-get install -y --no-install-recommends no-such-package-1'
