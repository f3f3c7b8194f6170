#!/usr/bin/env bash
# ./lab doctor on machines that are made of files: what it says about each, and with which exit status it ends.
set -euo pipefail

LAB_ROOT=${LAB_ROOT:-$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")}
# shellcheck source=tests/lib.sh
. "${LAB_ROOT:?}/tests/lib.sh"

# Some machines are looked at as another user, who may perhaps not read the checkout.
chmod 755 "$WORK"
cp -r "$LAB_ROOT/tools" "$WORK/tools"
chmod -R a+rX "$WORK/tools"

# shellcheck source=tools/packages.sh
. "$LAB_ROOT/tools/packages.sh"
build_packages=${#packages_build[@]}

# The doctor, with what it asks of the system replaced by variables.
cat >"$WORK/fake-doctor" <<'DRIVER'
set -euo pipefail
LAB_ROOT=$WORK LAB_STATE=$WORK/state
for part in lib packages place doctor; do . "$WORK/tools/$part.sh"; done
testbed_packages() { printf 'qemu-system-x86\ncpio\n'; }
packages_missing() { for package; do case " $FAKE_MISSING " in *" $package "*) echo "$package" ;; esac; done; }
doctor_uid() { echo "$FAKE_UID"; }
doctor_user() { echo reader; }
doctor_machine() { echo "$FAKE_MACHINE"; }
doctor_release() { echo "$FAKE_RELEASE"; }
doctor_memlock() { echo "$FAKE_MEMLOCK"; }
doctor_has_command() { [[ " $FAKE_COMMANDS " == *" $1 "* ]]; }
doctor_sudo_works() { [[ $FAKE_SUDO == works ]]; }
doctor_addresses() { if [[ -r $LAB_SYSROOT/addresses/$1 ]]; then cat "$LAB_SYSROOT/addresses/$1"; fi; }
doctor
DRIVER

# put FILE [TEXT]: a file of the machine.
put() {
  mkdir -p "$(dirname "$root/$1")"
  printf '%s\n' "${2-}" >"$root/$1"
}

# machine NAME: a new one: Debian, a user with sudo, one interface, all packages; no RDMA.
machine() {
  root=$WORK/machines/$1
  FAKE_UID=1000 FAKE_MACHINE=x86_64 FAKE_RELEASE=6.1.0-1-amd64 FAKE_MEMLOCK=unlimited FAKE_MISSING=''
  FAKE_COMMANDS='ip rdma sudo apt-get dpkg-query' FAKE_SUDO=works LAB_ON=''
  as=()
  put etc/os-release 'ID=debian'
  put proc/modules
  put proc/self/status $'Name:\tbash\nCapEff:\t0000000000000000'
  put lib/modules/$FAKE_RELEASE/modules.builtin 'kernel/drivers/net/dummy.ko'
  put lib/modules/$FAKE_RELEASE/modules.dep 'kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko'
  interface lo 772 0x9 unknown 127.0.0.1
  interface eth0 1 0x1003 up 198.51.100.7
  put sys/class/net/eth0/device/vendor
}

# interface NAME TYPE FLAGS STATE [ADDRESS]
interface() {
  put "sys/class/net/$1/type" "$2"
  put "sys/class/net/$1/flags" "$3"
  put "sys/class/net/$1/operstate" "$4"
  [[ $# -lt 5 ]] || put "addresses/$1" "$5"
}

become_root() {
  FAKE_UID=0
  put proc/self/status $'Name:\tbash\nCapEff:\t000001ffffffffff'
}

# device NAME NUMBER STATE LINK NETDEV: all that the kernel shows of it, its file, and a GID.
device() {
  local folder=sys/class/infiniband/$1
  put "$folder/ports/1/state" "$3"
  put "$folder/ports/1/link_layer" "$4"
  put "$folder/ports/1/gids/0" 0000:0000:0000:0000:0000:0000:0000:0000
  put "$folder/ports/1/gids/1" 0000:0000:0000:0000:0000:ffff:c633:6407
  put "sys/class/infiniband_verbs/uverbs$2/ibdev" "$1"
  put "dev/infiniband/uverbs$2"
  put dev/infiniband/rdma_cm
  put sys/module/ib_uverbs/refcnt
  if [[ $1 == rxe* || $1 == lab_rxe* ]]; then
    put "$folder/parent" "$5"
    put sys/module/rdma_rxe/refcnt
  else
    mkdir -p "$root/$folder/device"
    ln -s ../../../../bus/pci/drivers/mlx5_core "$root/$folder/device/driver"
    put "$folder/device/net/$5/dev_port" 0
  fi
}

# provider NAME: its userspace half.
provider() {
  put "etc/libibverbs.d/$1.driver" "driver $1"
  put "usr/lib/x86_64-linux-gnu/libibverbs/lib$1-rdmav34.so"
}

healthy_rxe() {
  device rxe0 0 '4: ACTIVE' Ethernet eth0
  provider rxe
}

container() { put .dockerenv; }

# examine: runs the doctor on the machine; it must change nothing there.
examine() {
  local before
  before=$(snapshot)
  run "${as[@]}" env LAB_SYSROOT="$root" WORK="$WORK" LAB_ON="$LAB_ON" FAKE_UID="$FAKE_UID" FAKE_MACHINE="$FAKE_MACHINE" \
    FAKE_RELEASE="$FAKE_RELEASE" FAKE_MEMLOCK="$FAKE_MEMLOCK" FAKE_MISSING="$FAKE_MISSING" \
    FAKE_COMMANDS="$FAKE_COMMANDS" FAKE_SUDO="$FAKE_SUDO" bash "$WORK/fake-doctor"
  COMMAND="./lab doctor on the machine '${root##*/}'"
  expect_no_err
  [[ $(snapshot) == "$before" && ! -e $WORK/state/build.log ]] || wrong "a machine that is as before"
}

snapshot() { find "$root" -printf '%P %m %s %T@ %l\n' | sort; }

# expect_line TEXT: a line that is exactly this. expect_fix TEXT DO: the fix line of TEXT, with some cause and exactly DO.
expect_line() { grep -qxF -- "$1" "$WORK/out" || wrong "the line: $1"; }
expect_fix() {
  grep -xF -A 2 -- "fix   $1" "$WORK/out" >"$WORK/fix" || wrong "the line: fix   $1"
  sed -n 2p "$WORK/fix" | grep -qE '^        why: [^ ]' || wrong "a cause after: fix   $1"
  [[ $(sed -n 3p "$WORK/fix") == "        do:  $2" ]] || wrong "after 'fix   $1' the line:         do:  $2"
}
expect_no_fix() { expect_no_out '^fix'; }
expect_fixes() { [[ $(grep -c '^fix' "$WORK/out") -eq $1 ]] || wrong "$1 times fix"; }

# --- no device ---

machine 'bare'
examine
expect_status 0
expect_fix "no RDMA device: the module rdma_rxe (Soft-RoCE) is not to be found for this kernel (6.1.0-1-amd64)" \
  "sudo apt-get install linux-image-amd64; then restart with that kernel; or leave it: the testbed has a kernel of its own"
expect_fixes 1
expect_line "ok    packages to build and run: all $build_packages installed"
expect_line "place     testbed, because this machine has no RDMA device"
expect_line "host-rxe  not possible: the module rdma_rxe is not to be found for this kernel"
expect_line "testbed   possible: with software emulation, because there is no /dev/kvm"
expect_line "result    testbed is usable; the fixes above are for a device of this machine, it needs none of them"

machine 'bare, cloud kernel of Ubuntu'
put etc/os-release $'NAME="Ubuntu"\nID=ubuntu'
FAKE_RELEASE=6.8.0-1-aws
examine
expect_status 0
expect_out '^        why: cloud kernels are built without it'
expect_out '^        do:  sudo apt-get install linux-modules-extra-6.8.0-1-aws;'

machine 'bare container'
container
examine
expect_status 0
expect_line "ok    machine: x86_64, Linux 6.1.0-1-amd64, in a container (/.dockerenv)"
expect_out '^        do:  on the host: sudo modprobe rdma_rxe; .* --device=/dev/infiniband --ulimit memlock=-1;'

machine 'module there, not loaded'
put lib/modules/$FAKE_RELEASE/modules.dep 'kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz'
examine
expect_status 0
expect_fix "no RDMA device: the module rdma_rxe (Soft-RoCE) is there, but not loaded" \
  "sudo modprobe rdma_rxe; sudo rdma link add rxe0 type rxe netdev eth0"
expect_line "host-rxe  not possible: it needs root (as root: ./lab --on host-rxe pingpong)"
become_root
examine
expect_status 0
expect_fix "no RDMA device: the module rdma_rxe (Soft-RoCE) is there, but not loaded" \
  "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0"
expect_line "host-rxe  possible: ./lab --on host-rxe makes a Soft-RoCE device in the kernel of this machine"
put proc/self/status $'CapEff:\t00000000a80425fb' # root in a container as Docker starts it
examine
expect_status 0
expect_line "host-rxe  not possible: root may not load modules here (a container without --privileged)"

machine 'module without link'
put sys/module/rdma_rxe/refcnt
interface aaa0 1 0x1002 down
interface docker0 1 0x1003 down 203.0.113.1
examine
expect_status 0
expect_fix "no RDMA device: the module rdma_rxe is loaded, but has no link" \
  "sudo rdma link add rxe0 type rxe netdev eth0"
expect_line "place     testbed, because this machine has no RDMA device"

# Which interface it names: one that is up, then one with an address, then a real one; never lo.
expect_link_on() {
  examine
  expect_fix "no RDMA device: the module rdma_rxe is loaded, but has no link" \
    "sudo rdma link add rxe0 type rxe netdev $1"
}
machine 'module without link, several interfaces'
put sys/module/rdma_rxe/refcnt
interface eth0 1 0x1002 down 198.51.100.7
interface zzz0 1 0x1003 unknown
expect_link_on zzz0
interface eth0 1 0x1003 up
rm "$root/addresses/eth0"
put addresses/zzz0 203.0.113.1
expect_link_on zzz0
interface aaa0 1 0x1003 up 203.0.113.2
put sys/class/net/zzz0/device/vendor
expect_link_on zzz0
rm -r "$root"/sys/class/net/{aaa0,eth0,zzz0}
examine
expect_fix "no RDMA device: the module rdma_rxe is loaded, but has no link" \
  "this machine has no suitable interface: as root ./lab --on host-rxe up makes one"

machine 'root, capabilities not known'
put sys/module/rdma_rxe/refcnt
FAKE_UID=0
rm "$root/proc/self/status"
examine
expect_line "host-rxe  possible: ./lab --on host-rxe makes a Soft-RoCE device in the kernel of this machine"

# --- one device ---

machine 'healthy rxe0'
healthy_rxe
examine
expect_status 0
expect_no_fix
expect_no_out '^note'
expect_line "ok    rxe0: port 1 is active (Ethernet, interface eth0 with 198.51.100.7)"
expect_line "ok    locked memory: unlimited"
expect_line "place     host, because rxe0 has an active port and this user may open it"
expect_line "host      possible: device rxe0"
expect_line "result    host is usable"
LAB_ON=testbed
examine
expect_status 0
expect_line "place     testbed, as asked for by --on or LAB_ON"
expect_line "result    testbed is usable"
LAB_ON='host-rxe'
examine
expect_status 1
expect_line "result    host-rxe is not usable as it is; usable: host testbed"

machine 'mlx5_0, interface down'
device mlx5_0 0 '1: DOWN' Ethernet ens1
provider mlx5
interface ens1 1 0x1002 down
examine
expect_status 0
expect_fix "mlx5_0: port 1 is DOWN (PORT_DOWN), because its interface ens1 is down" "sudo ip link set ens1 up"
expect_line "place     testbed, because no RDMA device of this machine is usable as it is"
expect_line "host      not possible: no RDMA device here has an active port and a file that this user may open"
interface ens1 1 0x1003 down
examine
expect_status 0
expect_fix "mlx5_0: port 1 is DOWN (PORT_DOWN), though its interface ens1 is up" \
  "plug it in, then look again: ip link show ens1"
LAB_ON=host
examine
expect_status 1
expect_line "result    host is not usable as it is; usable: testbed"

machine 'mlx5_0, InfiniBand'
device mlx5_0 0 '4: ACTIVE' InfiniBand ib0
provider mlx5
interface ib0 32 0x1003 up 198.51.100.9
examine
expect_status 0
expect_no_fix
expect_line "ok    mlx5_0: port 1 is active (InfiniBand, interface ib0 with 198.51.100.9)"
expect_line "result    host is usable"
rm "$root/addresses/ib0"
examine
expect_status 0
expect_no_fix
expect_line "note  mlx5_0: its interface ib0 has no IP address; only rdma_cm needs one on InfiniBand"
put sys/class/infiniband/mlx5_0/ports/1/state '2: INIT'
examine
expect_status 0
expect_fix "mlx5_0: port 1 is in INIT: it has a cable, but no LID yet" \
  "on one machine of it: sudo systemctl start opensm"
put sys/class/infiniband/mlx5_0/ports/2/state '4: ACTIVE'
put sys/class/infiniband/mlx5_0/ports/2/gids/0 fe80:0000:0000:0000:0002:c903:0000:0001
examine
expect_status 0
expect_no_fix
expect_line "note  mlx5_0: port 1 is not active"

machine 'no provider'
device rxe0 0 '4: ACTIVE' Ethernet eth0
provider mlx5
FAKE_MISSING=ibverbs-providers
examine
expect_status 0
expect_fix "rxe0: its userspace half is missing (provider rxe: /etc/libibverbs.d/rxe.driver librxe-rdmav*.so)" \
  "sudo apt-get install ibverbs-providers"
expect_line "note  packages to build and run: ./lab will install ibverbs-providers"
expect_line "result    host is usable"
provider rxe
rm "$root/etc/libibverbs.d/rxe.driver"
FAKE_MISSING=''
examine
expect_status 0
expect_fix "rxe0: its userspace half is missing (provider rxe: /etc/libibverbs.d/rxe.driver)" \
  "sudo apt-get install --reinstall -o Dpkg::Options::=--force-confmiss ibverbs-providers"
expect_line "host      not possible before the fix for rxe0 above"
expect_line "result    host is not usable as it is; use --on testbed"

machine 'ib_uverbs not loaded'
healthy_rxe
rm -r "$root"/sys/class/infiniband_verbs "$root"/sys/module/ib_uverbs "$root"/dev/infiniband/uverbs0
examine
expect_status 0
expect_fix "the module ib_uverbs is not loaded, though there is an RDMA device: rxe0" "sudo modprobe ib_uverbs"
expect_fixes 1

machine 'container without device files'
healthy_rxe
container
rm -r "$root/dev/infiniband"
examine
expect_status 0
expect_fix "/dev/infiniband has no uverbs file: ibv_open_device fails for rxe0" \
  "start the container with --device=/dev/infiniband --ulimit memlock=-1"
expect_fixes 1
expect_line "place     testbed, because no RDMA device of this machine is usable as it is"
rm "$root/.dockerenv"
put proc/1/cgroup '12:cpuset:/kubepods/besteffort/pod1'
examine
expect_line "ok    machine: x86_64, Linux 6.1.0-1-amd64, in a container (/proc/1/cgroup: kubepods)"
rm "$root/proc/1/cgroup"
examine
expect_fix "/dev/infiniband has no uverbs file: ibv_open_device fails for rxe0" \
  "sudo udevadm trigger --subsystem-match=infiniband_verbs"

machine 'rdma_cm missing'
healthy_rxe
rm "$root/dev/infiniband/rdma_cm"
examine
expect_status 0
expect_fix "/dev/infiniband/rdma_cm is missing: rdma_create_event_channel fails" "sudo modprobe rdma_ucm"

machine 'uverbs file not accessible'
healthy_rxe
# Nothing is closed to root.
[[ $EUID -ne 0 ]] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 000 "$root/dev/infiniband/uverbs0"
examine
expect_status 0
expect_fix "rxe0: /dev/infiniband/uverbs0 is there, but this user (reader) may not read and write it" \
  "sudo chmod 666 /dev/infiniband/uverbs0; for good: remove the udev rule that narrows it (grep -r uverbs /etc/udev/rules.d)"
expect_line "place     testbed, because no RDMA device of this machine is usable as it is"
if [[ $EUID -eq 0 ]]; then
  chgrp daemon "$root/dev/infiniband/uverbs0"
  chmod 660 "$root/dev/infiniband/uverbs0"
  examine
  expect_fix "rxe0: /dev/infiniband/uverbs0 is there, but this user (reader) may not read and write it" \
    "sudo usermod -aG daemon reader; then log out and in again"
fi

machine 'low memlock'
healthy_rxe
FAKE_MEMLOCK=8192
examine
expect_status 0
expect_fix "locked memory: the limit is 8192 KiB, less than 65536 KiB" \
  "add the line '* - memlock unlimited' to /etc/security/limits.conf; it applies to new logins only: log out and in again,\
 then look with ulimit -l in the shell that starts the program"
expect_out '^        why: .*ibv_reg_mr fails with ENOMEM'
expect_line "result    host is usable"
container
examine
expect_fix "locked memory: the limit is 8192 KiB, less than 65536 KiB" "start the container with --ulimit memlock=-1"
become_root
examine
expect_no_fix
expect_line "ok    locked memory: 8192 KiB, but this user (root) is exempt"
put proc/self/status $'CapEff:\t00000000a80425fb' # without CAP_IPC_LOCK
examine
expect_fixes 1
FAKE_MEMLOCK=65536
examine
expect_no_fix

machine 'low memlock, no device'
FAKE_MEMLOCK=64
examine
expect_status 0
expect_out '^note  locked memory: 64 KiB; enough for the testbed'

machine 'interface without address'
healthy_rxe
rm "$root/addresses/eth0"
examine
expect_status 0
expect_fix "rxe0: its interface eth0 has no IP address" \
  "sudo ip address add 192.0.2.1/24 dev eth0 (or an address of your own network)"
expect_line "result    host is usable"
rm "$root/sys/class/infiniband/rxe0/ports/1/gids/1"
examine
expect_status 0
expect_fix "rxe0: the GID table of port 1 is empty" \
  "sudo ip address add 192.0.2.1/24 dev eth0 (or an address of your own network)"
expect_line "result    host is not usable as it is; use --on testbed"

machine 'rxe0 on lo'
healthy_rxe
put sys/class/infiniband/rxe0/parent lo
examine
expect_status 0
expect_fix "rxe0: its interface is lo" \
  "sudo rdma link delete rxe0; sudo rdma link add rxe0 type rxe netdev eth0"
expect_line "result    host is not usable as it is; use --on testbed"

machine 'renamed rxe device'
device lab_rxe0 0 '4: ACTIVE' Ethernet eth0
provider rxe
mkdir -p "$root/sys/class/infiniband/lab_rxe0/ports/1/gid_attrs/ndevs"
mv "$root"/sys/class/infiniband/lab_rxe0/parent "$root"/sys/class/infiniband/lab_rxe0/ports/1/gid_attrs/ndevs/0
put sys/class/infiniband/lab_rxe0/parent unused
examine
expect_status 0
expect_line "ok    lab_rxe0: port 1 is active (Ethernet, interface eth0 with 198.51.100.7)"

# --- several devices ---

machine 'two devices, one hidden'
healthy_rxe
container
device mlx5_0 1 '4: ACTIVE' Ethernet eth0
provider mlx5
rm "$root/dev/infiniband/uverbs1"
examine
expect_status 0
expect_line "note  2 RDMA devices: mlx5_0 rxe0. Choose by name, never by a place in the list: the order can change"
expect_fix "mlx5_0: /dev/infiniband/uverbs1 is missing, other devices have their file; ibv_open_device fails for this one" \
  "show all of them: start the container with --device=/dev/infiniband --ulimit memlock=-1"
expect_fixes 1
expect_out '^ok    rxe0: '
expect_line "place     host, because rxe0 has an active port and this user may open it"
expect_line "result    host is usable"

# --- packages and machine ---

machine 'packages missing'
FAKE_MISSING='cmake cpio'
examine
expect_status 0
expect_line "note  packages to build and run: ./lab will install cmake"
expect_line "note  packages for the testbed: ./lab will install cpio"
FAKE_COMMANDS='ip apt-get dpkg-query'
examine
expect_status 1
expect_fix "packages to build and run are missing: cmake" \
  "as root: apt-get update && apt-get install -y --no-install-recommends cmake"
expect_out '^        why: this user is not root, and there is no sudo'
expect_line "result    no place is usable; the fixes above come first"
FAKE_COMMANDS='ip sudo apt-get dpkg-query' FAKE_SUDO=asks
examine
expect_status 1
expect_out '^        why: sudo wants a password'
become_root
FAKE_COMMANDS='ip apt-get dpkg-query'
examine
expect_status 0

machine 'testbed packages missing, device there'
healthy_rxe
FAKE_MISSING=cpio FAKE_COMMANDS='ip apt-get dpkg-query'
examine
expect_status 0
expect_line "testbed   not possible before the packages are there"
expect_line "result    host is usable"

machine 'no apt, no sudo'
FAKE_COMMANDS=ip
examine
expect_status 1
expect_out '^fix   packages: this machine has no apt-get$'
expect_out '^        do:  install by hand .*libibverbs-dev.*cmake --preset default && cmake --build build$'
expect_out '^        do:  as root: apt-get install linux-image-amd64|^        do:  install the full kernel'
expect_line "result    no place is usable; the fixes above come first"

machine 'another architecture'
FAKE_MACHINE=aarch64
examine
expect_status 1
expect_out '^fix   machine: aarch64; the testbed runs on x86_64 only$'
expect_line "testbed   not possible: this machine is no x86_64"
healthy_rxe
examine
expect_status 0
expect_line "result    host is usable"

# --- KVM or emulation ---

machine 'KVM not tried'
put dev/kvm
examine
expect_line "testbed   possible: with KVM if its first boot proves that it works, else with software emulation"
mkdir -p "$WORK/state/testbed"
echo tcg >"$WORK/state/testbed/accel"
examine
expect_line "testbed   possible: with software emulation, because KVM was seen not to work here"
echo kvm >"$WORK/state/testbed/accel"
examine
expect_line "testbed   possible: with KVM, which was seen to work here"

# --- the real thing ---

run "$LAB_ROOT/lab" doctor everything
expect_usage_error 'doctor takes no arguments'

LAB_ON='' run "$LAB_ROOT/lab" doctor
expect_status 0
expect_no_err
expect_out '^place     (testbed|host), because '
expect_out '^testbed   possible: with '
