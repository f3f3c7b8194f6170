# shellcheck shell=bash
# Part of ./lab doctor. Says which place is used, and which others would be possible.

# doctor_decide: says which place is used and why; fails when no place is usable.
doctor_decide() {
  local where device why obstacle usable=()
  device=$(place_usable_device) || device=
  if [[ -n $device && -n $doctor_build_ready ]] && ! doctor_is_broken "$device"; then usable+=(host); fi
  if [[ -n $doctor_testbed_machine && -n $doctor_build_ready && -n $doctor_testbed_ready ]]; then usable+=(testbed); fi
  doctor_rxe_obstacle
  obstacle=$REPLY
  if [[ -z $obstacle && -n $doctor_build_ready ]]; then usable+=(host-rxe); fi

  where=$(place)
  if [[ -n ${LAB_ON-} ]]; then
    why="as asked for by --on or LAB_ON"
  elif [[ $where == host ]]; then
    why="because $device has an active port and this user may open it"
  elif [[ $doctor_devices -gt 0 ]]; then
    why="because no RDMA device of this machine is usable as it is"
  else
    why="because this machine has no RDMA device"
  fi
  printf 'place     %s, %s\n' "$where" "$why"
  doctor_describe_host "$device" "${usable[*]}"
  if [[ -z $obstacle ]]; then
    printf 'host-rxe  possible: ./lab --on host-rxe makes a Soft-RoCE device in the kernel of this machine\n'
  else
    printf 'host-rxe  not possible: %s\n' "$obstacle"
  fi
  doctor_describe_testbed "${usable[*]}"
  doctor_result "$where" "${usable[@]}"
}

# doctor_result PLACE [USABLE...]: the last line, and the exit status.
doctor_result() {
  local where=$1
  shift
  if [[ " $* " == *" $where "* ]]; then
    if [[ $where == testbed && $doctor_fixes -gt 0 ]]; then
      printf 'result    testbed is usable; the fixes above are for a device of this machine, it needs none of them\n'
    else
      printf 'result    %s is usable\n' "$where"
    fi
  elif [[ -n ${LAB_ON-} ]]; then
    # What was asked for by name is not replaced by another place.
    printf 'result    %s is not usable as it is; usable: %s\n' "$where" "${*:-none}"
    return 1
  elif [[ $# -gt 0 ]]; then
    printf 'result    %s is not usable as it is; use --on %s\n' "$where" "$1"
  else
    printf 'result    no place is usable; the fixes above come first\n'
    return 1
  fi
}

doctor_is_broken() {
  local device
  for device in "${doctor_broken[@]}"; do
    [[ $device != "$1" ]] || return 0
  done
  return 1
}

# doctor_describe_host DEVICE USABLE: DEVICE is what place_usable_device says, USABLE all usable places.
doctor_describe_host() {
  if [[ -z $1 ]]; then
    printf 'host      not possible: no RDMA device here has an active port and a file that this user may open\n'
  elif doctor_is_broken "$1"; then
    printf 'host      not possible before the fix for %s above\n' "$1"
  elif [[ " $2 " == *" host "* ]]; then
    printf 'host      possible: device %s\n' "$1"
  else
    printf 'host      not possible before the packages are there: device %s\n' "$1"
  fi
}

# doctor_rxe_obstacle: sets REPLY to what stands in the way of host-rxe, or to nothing.
doctor_rxe_obstacle() {
  local module state
  REPLY=
  for module in rdma_rxe dummy; do
    state=$(doctor_module "$module")
    if [[ $state == missing ]]; then
      REPLY="the module $module is not to be found for this kernel"
    elif [[ $(doctor_uid) -eq 0 && $state == loadable ]] && ! doctor_capable "$doctor_cap_sys_module"; then
      REPLY="root may not load modules here (a container without --privileged)"
    fi
    [[ -z $REPLY ]] || return 0
  done
  if [[ $(doctor_uid) -ne 0 ]]; then
    REPLY="it needs root (as root: ./lab --on host-rxe pingpong)"
  elif ! doctor_capable "$doctor_cap_net_admin"; then
    REPLY="root may not add interfaces here (a container without --privileged)"
  fi
}

doctor_describe_testbed() {
  if [[ -z $doctor_testbed_machine ]]; then
    printf 'testbed   not possible: this machine is no x86_64\n'
  elif [[ " $1 " != *" testbed "* ]]; then
    printf 'testbed   not possible before the packages are there\n'
  else
    printf 'testbed   possible: %s\n' "$(doctor_accel)"
  fi
}

# doctor_accel: KVM or emulation. Only a boot shows whether KVM works; the testbed remembers what it saw.
doctor_accel() {
  local remembered=
  if doctor_read "$LAB_STATE/testbed/accel"; then remembered=$REPLY; fi
  case ${LAB_ACCEL-}:$remembered in
    kvm:*) echo "with KVM, because LAB_ACCEL says so" ;;
    tcg:*) echo "with software emulation, because LAB_ACCEL says so" ;;
    :kvm*) echo "with KVM, which was seen to work here" ;;
    :tcg*) echo "with software emulation, because KVM was seen not to work here" ;;
    *)
      if [[ ! -e $doctor_root/dev/kvm ]]; then
        echo "with software emulation, because there is no /dev/kvm"
      elif [[ ! -r $doctor_root/dev/kvm || ! -w $doctor_root/dev/kvm ]]; then
        echo "with software emulation, because this user may not open /dev/kvm" \
          "(${doctor_as_root}usermod -aG kvm $(doctor_user); then log in again)"
      else
        echo "with KVM if its first boot proves that it works, else with software emulation"
      fi
      ;;
  esac
}
