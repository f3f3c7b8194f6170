# shellcheck shell=bash
# Part of ./lab doctor. Looks at the kernel: are there RDMA devices, and if not, how far is it from Soft-RoCE?

doctor_check_rdma() {
  local device devices=()
  for device in "$doctor_root"/sys/class/infiniband/*; do
    [[ ! -e $device ]] || devices+=("${device##*/}")
  done
  doctor_devices=${#devices[@]}
  if [[ $doctor_devices -eq 0 ]]; then
    doctor_check_rxe
    return
  fi
  if [[ $doctor_devices -gt 1 ]]; then
    doctor_note "$doctor_devices RDMA devices: ${devices[*]}. Choose by name, never by a place in the list: the order can change"
  fi
  doctor_check_uverbs_folder "${devices[@]}"
  for device in "${devices[@]}"; do
    doctor_check_device "$device"
  done
}

# doctor_module NAME: prints whether it is loaded, loadable or missing. As modinfo would say, which is in sbin and often
# not installed in containers. What is built in may have no folder in /sys/module, but is on its list.
doctor_module() {
  local modules=$doctor_root/lib/modules/$doctor_release_name
  if [[ -e $doctor_root/sys/module/$1 ]] || grep -qs "/$1\.ko" "$modules/modules.builtin"; then
    echo loaded
  elif [[ -e $doctor_root/proc/modules ]] && grep -qs "/$1\.ko[^ ]*:" "$modules/modules.dep"; then
    echo loadable
  else
    echo missing
  fi
}

# No device: how far is this kernel from Soft-RoCE?
doctor_check_rxe() {
  local link
  link=$(doctor_link_command)
  case $(doctor_module rdma_rxe) in
    loaded)
      doctor_fix "no RDMA device: the module rdma_rxe is loaded, but has no link" \
        "Soft-RoCE has a device only after a link is added to a network interface (and after a restart again)" "$link"
      ;;
    loadable)
      doctor_fix "no RDMA device: the module rdma_rxe (Soft-RoCE) is there, but not loaded" \
        "nothing loads it by itself, and no adapter was found" "${doctor_as_root}modprobe rdma_rxe; $link"
      ;;
    missing) doctor_fix_rxe_missing ;;
  esac
}

doctor_link_command() {
  doctor_pick_interface
  if [[ -n $REPLY ]]; then
    printf '%srdma link add rxe0 type rxe netdev %s\n' "$doctor_as_root" "$REPLY"
  else
    printf 'this machine has no suitable interface: as root ./lab --on host-rxe up makes one\n'
  fi
}

# doctor_pick_interface: sets REPLY to the interface that suits an rxe link best, or to nothing. Ethernet only, so never
# lo; one that is up before others, then one with an address, then real ones before bridges and the like.
doctor_pick_interface() {
  local net score best=0 name=
  for net in "$doctor_root"/sys/class/net/*; do
    doctor_read "$net/type" || continue
    [[ $REPLY == 1 ]] || continue
    score=1
    [[ ! -e $net/device ]] || score=$((score + 1))
    [[ -z $(doctor_addresses "${net##*/}") ]] || score=$((score + 2))
    if doctor_read "$net/operstate" && [[ $REPLY == up || $REPLY == unknown ]]; then score=$((score + 4)); fi
    if [[ $score -gt $best ]]; then best=$score name=${net##*/}; fi
  done
  REPLY=$name
}

doctor_fix_rxe_missing() {
  local why fix key value id='' release=$doctor_release_name
  if [[ -n $doctor_container ]]; then
    why="a container has the kernel of its host, and only the host can load modules"
    fix="on the host: sudo modprobe rdma_rxe; sudo rdma link add rxe0 type rxe netdev INTERFACE; then\
 $(doctor_show_nodes)"
  else
    while IFS='=' read -r key value; do
      [[ $key != ID ]] || id=${value//\"/}
    done 2>/dev/null <"$doctor_root/etc/os-release" || true
    if [[ ! -e $doctor_root/proc/modules ]]; then
      why="this kernel cannot load modules at all"
    elif [[ $release == *cloud* || $release == *aws* || $release == *azure* || $release == *gcp* || $release == *kvm* ]]; then
      why="cloud kernels are built without it, or have it in a package of its own"
    else
      why="this kernel was built without it, or its package of extra modules is not installed"
    fi
    case $id in
      debian) fix="${doctor_as_root}apt-get install linux-image-amd64; then restart with that kernel" ;;
      ubuntu) fix="${doctor_as_root}apt-get install linux-modules-extra-$release" ;;
      *) fix="install the full kernel package of your distribution, with its extra modules, and restart" ;;
    esac
  fi
  [[ -z $doctor_testbed_machine ]] || fix+="; or leave it: the testbed has a kernel of its own"
  doctor_fix "no RDMA device: the module rdma_rxe (Soft-RoCE) is not to be found for this kernel ($release)" "$why" "$fix"
}
