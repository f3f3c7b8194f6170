# shellcheck shell=bash
# Where programs run: the ladder. The rest of ./lab says place_exec and does not ask.
#
#   host      a device that this machine already has: an adapter, or an rxe link that somebody made
#   host-rxe  Soft-RoCE in this machine's own kernel, made by ./lab; changes the machine, so only when asked for
#   testbed   two Soft-RoCE hosts in QEMU

# The two addresses that host-rxe gives its interface are documentation addresses (RFC 5737): nobody's network.
place_rxe_link=lab_rxe0
place_rxe_netdev=lab_rxe_net0
place_rxe_address=192.0.2.1

place_check_name() {
  case ${LAB_ON-} in
    '' | testbed | host | host-rxe) ;;
    *) usage_error "there is no place '$LAB_ON'; the places are testbed, host and host-rxe" ;;
  esac
}

# place_usable_device: prints the first local device with an active port that this user may open, or fails.
# LAB_SYSROOT stands before /sys and /dev, so that the tests can show it other machines.
place_usable_device() {
  local sys=${LAB_SYSROOT-}/sys/class dev=${LAB_SYSROOT-}/dev/infiniband uverbs device state
  for uverbs in "$sys"/infiniband_verbs/uverbs*; do
    [[ -r $uverbs/ibdev ]] || continue
    device=$(<"$uverbs/ibdev")
    # Opening alone does nothing to the device, and shows what the mode does not: a container's device rules.
    (: <>"$dev/${uverbs##*/}") 2>/dev/null || continue
    for state in "$sys/infiniband/$device"/ports/*/state; do
      if [[ -r $state && $(<"$state") == *ACTIVE* ]]; then
        printf '%s\n' "$device"
        return 0
      fi
    done
  done
  return 1
}

# place: prints where programs run.
place() {
  if [[ -n ${LAB_ON-} ]]; then
    printf '%s\n' "$LAB_ON"
  elif place_usable_device >/dev/null; then
    printf 'host\n'
  else
    printf 'testbed\n'
  fi
}

# place_packages: what the place needs on this machine.
place_packages() {
  case $(place) in
    testbed) testbed_packages ;;
    *) printf 'iproute2\nkmod\n' ;;
  esac
}

# place_up [HOST...]: makes the hosts ready, both unless named.
place_up() {
  place_check_hosts "$@"
  [[ $# -gt 0 ]] || set -- server client
  case $(place) in
    testbed)
      local packages
      mapfile -t packages < <(testbed_packages)
      packages_need "${packages[@]}"
      testbed_image
      testbed_up "$@"
      ;;
    host) place_usable_device >/dev/null || fail "this machine has no usable RDMA device: see ./lab doctor" ;;
    host-rxe) place_rxe_up ;;
  esac
}

place_check_hosts() {
  local host
  for host in "$@"; do
    [[ $host == server || $host == client ]] || usage_error "there is no host '$host'; the hosts are server and client"
  done
}

# place_exec HOST CMD...: runs CMD there in place of this shell.
place_exec() {
  place_check_hosts "$1"
  case $(place) in
    testbed) testbed_exec "$@" ;;
    *)
      place_up
      shift
      exec "$@"
      ;;
  esac
}

place_shell() {
  place_check_hosts "$1"
  case $(place) in
    testbed) testbed_shell "$1" ;;
    *) exec "${SHELL:-/bin/sh}" ;;
  esac
}

# place_address HOST: the address under which the other host finds it.
place_address() {
  case $(place) in
    testbed) testbed_address "$1" ;;
    *) printf '127.0.0.1\n' ;; # for the address exchange over TCP only; the RDMA traffic goes by GID
  esac
}

# place_describe: on what a result was obtained, in one line.
place_describe() {
  case $(place) in
    testbed) testbed_describe ;;
    host) printf 'this machine, device %s, both sides on one host\n' "$(place_usable_device)" ;;
    host-rxe) printf 'this machine, Soft-RoCE in its own kernel (Linux %s), both sides on one host\n' "$(uname -r)" ;;
  esac
}

place_status() {
  [[ $# -eq 0 ]] || usage_error "status takes no arguments"
  case $(place) in
    testbed) testbed_status ;;
    host)
      place_usable_device >/dev/null || fail "this machine has no usable RDMA device: see ./lab doctor"
      place_describe
      ;;
    *) place_describe ;;
  esac
}

place_down() {
  place_check_hosts "$@"
  place_rxe_down
  testbed_down "$@"
}

# place_rxe_up: an rxe link on a dummy interface of its own, so that no real interface is touched.
place_rxe_up() {
  [[ -e /sys/class/infiniband/$place_rxe_link ]] && return 0
  [[ $EUID -eq 0 ]] || fail "--on host-rxe loads kernel modules and adds an interface: run it as root, or use --on testbed"
  [[ -e /sys/module/rdma_rxe ]] || modprobe rdma_rxe ||
    fail "this kernel ($(uname -r)) has no module rdma_rxe: use --on testbed, or install the full kernel package"
  say "adding the interface $place_rxe_netdev and the Soft-RoCE device $place_rxe_link to this machine (./lab down removes them)"
  ip link add "$place_rxe_netdev" type dummy
  ip address add "$place_rxe_address/32" dev "$place_rxe_netdev"
  ip link set "$place_rxe_netdev" up
  rdma link add "$place_rxe_link" type rxe netdev "$place_rxe_netdev"
}

place_rxe_down() {
  [[ -e /sys/class/infiniband/$place_rxe_link ]] || return 0
  rdma link delete "$place_rxe_link"
  ip link delete "$place_rxe_netdev"
}
