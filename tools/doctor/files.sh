# shellcheck shell=bash
# Part of ./lab doctor. Looks at /dev/infiniband: is the file of each device there, and may this user open it?

# doctor_uverbs DEVICE: sets REPLY to its uverbsN, or fails.
doctor_uverbs() {
  local file
  for file in "$doctor_root"/sys/class/infiniband_verbs/uverbs*/ibdev; do
    if doctor_read "$file" && [[ $REPLY == "$1" ]]; then
      file=${file%/ibdev}
      REPLY=${file##*/}
      return
    fi
  done
  return 1
}

# What all devices have in common is said once: sets doctor_uverbs_fault when none of them can have a file.
doctor_check_uverbs_folder() {
  local device why fix files=() dev=$doctor_root/dev/infiniband present=0
  doctor_uverbs_fault=
  for device in "$@"; do
    if doctor_uverbs "$device"; then
      files+=("$REPLY")
      [[ ! -e $dev/$REPLY ]] || present=$((present + 1))
    fi
  done
  if [[ ${#files[@]} -eq 0 ]]; then
    doctor_uverbs_fault=yes
    doctor_fix "the module ib_uverbs is not loaded, though there is an RDMA device: $*" \
      "programs reach a device through it; without it ibv_devices prints an empty table" \
      "${doctor_as_root}modprobe ib_uverbs"
  elif [[ $present -eq 0 ]]; then
    doctor_uverbs_fault=yes
    why="the kernel has the device, but udev did not make its file"
    [[ -z $doctor_container ]] ||
      why="this is a container ($doctor_container), and it was started without the device files"
    doctor_fix "/dev/infiniband has no uverbs file: ibv_open_device fails for $*" "$why" "$(doctor_show_nodes)"
  elif [[ ! -e $dev/rdma_cm ]]; then
    why="the module rdma_ucm is not loaded" fix="${doctor_as_root}modprobe rdma_ucm"
    if [[ -n $doctor_container ]]; then
      why="this container was given other device files, but not this one" fix=$(doctor_show_nodes)
    fi
    doctor_fix "/dev/infiniband/rdma_cm is missing: rdma_create_event_channel fails" "$why" "$fix"
  fi
}

# doctor_show_nodes: prints how the device files come into being.
doctor_show_nodes() {
  if [[ -n $doctor_container ]]; then
    printf 'start the container with --device=/dev/infiniband --ulimit memlock=-1\n'
  else
    printf '%sudevadm trigger --subsystem-match=infiniband_verbs\n' "$doctor_as_root"
  fi
}

# doctor_check_node DEVICE: its file is there and this user may open it.
doctor_check_node() {
  local device=$1 node path
  [[ -z $doctor_uverbs_fault ]] || return 1
  if ! doctor_uverbs "$device"; then
    doctor_fix "$device: has no uverbs number, so programs do not see it" \
      "its driver came without the verbs half, or the device is being removed" "${doctor_as_root}modprobe ib_uverbs"
    return 1
  fi
  node=/dev/infiniband/$REPLY
  path=$doctor_root$node
  if [[ ! -e $path ]]; then
    doctor_fix "$device: $node is missing, other devices have their file; ibv_open_device fails for this one" \
      "one device is hidden${doctor_container:+ from this container}; older librdmacm then gives up on all of them (ENODEV)" \
      "show all of them: $(doctor_show_nodes)"
    return 1
  fi
  if [[ ! -r $path || ! -w $path ]]; then
    doctor_fix_access "$device" "$node"
    return 1
  fi
  # A container's device rules are not in the mode; only opening shows them. Opening alone does nothing to the device.
  if ! (: <>"$path") 2>/dev/null; then
    doctor_broken+=("$device")
    doctor_fix "$device: $node cannot be opened, though its mode allows it" \
      "the device is not among those that this container${doctor_container:+ ($doctor_container)} or service may use" \
      "start the container with --device=/dev/infiniband (a volume of that folder is not enough)"
    return 1
  fi
}

doctor_fix_access() {
  local device=$1 node=$2 mode group fix
  read -r mode group < <(stat -c '%a %G' "$doctor_root$node")
  if [[ $group != root && $mode =~ [67].$ ]]; then
    fix="${doctor_as_root}usermod -aG $group $(doctor_user); then log out and in again"
  else
    fix="${doctor_as_root}chmod 666 $node; for good: remove the udev rule that narrows it (grep -r uverbs /etc/udev/rules.d)"
  fi
  doctor_fix "$device: $node is there, but this user ($(doctor_user)) may not read and write it" \
    "its mode is $mode and its group $group; the kernel's own choice would be 666" "$fix"
}
