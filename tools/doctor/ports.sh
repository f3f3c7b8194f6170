# shellcheck shell=bash
# Part of ./lab doctor. Looks at the ports of a device: state, interface, address, GIDs.

# doctor_check_device DEVICE: one ok line, or what is wrong with it.
doctor_check_device() {
  local device=$1 healthy=yes
  doctor_check_node "$device" || healthy=
  doctor_check_provider "$device" || healthy=
  doctor_active=()
  doctor_check_ports "$device" || healthy=
  [[ -z $healthy ]] || doctor_ok "$device: ${doctor_active[*]}"
}

doctor_check_ports() {
  local device=$1 port number down=() status=0
  for port in "$doctor_root/sys/class/infiniband/$device"/ports/*; do
    number=${port##*/}
    if doctor_read "$port/state" && [[ $REPLY == *ACTIVE* ]]; then
      doctor_check_active_port "$device" "$number" || status=1
    else
      down+=("$number")
    fi
  done
  for number in "${down[@]}"; do
    # One active port is enough; the other has perhaps no cable.
    if [[ ${#doctor_active[@]} -gt 0 ]]; then
      doctor_note "$device: port $number is not active"
    else
      doctor_fix_port "$device" "$number"
      status=1
    fi
  done
  if [[ $status -eq 0 && ${#doctor_active[@]} -eq 0 ]]; then
    doctor_note "$device: has no port"
    status=1
  fi
  return "$status"
}

# doctor_netdev DEVICE PORT: sets REPLY to the port's network interface, or to nothing.
doctor_netdev() {
  local folder=$doctor_root/sys/class/infiniband/$1 file
  for file in "$folder/ports/$2/gid_attrs/ndevs"/* "$folder/parent"; do
    if doctor_read "$file" && [[ -n $REPLY ]]; then return; fi
  done
  # Two ports of one adapter: their interfaces are counted from 0.
  for file in "$folder"/device/net/*; do
    [[ -e $file ]] || continue
    if ! doctor_read "$file/dev_port" || [[ $REPLY -eq $(($2 - 1)) ]]; then
      REPLY=${file##*/}
      return
    fi
  done
  REPLY=
}

doctor_fix_port() {
  local device=$1 port=$2 state link netdev flags
  doctor_read "$doctor_root/sys/class/infiniband/$device/ports/$port/state" || true
  state=${REPLY##*: }
  state="${state:-in no known state} (PORT_DOWN)"
  doctor_read "$doctor_root/sys/class/infiniband/$device/ports/$port/link_layer" || true
  link=$REPLY
  doctor_netdev "$device" "$port"
  netdev=$REPLY
  doctor_read "$doctor_root/sys/class/net/$netdev/flags" || true
  flags=${REPLY:-0}
  if [[ $link == InfiniBand && $state == INIT* ]]; then
    doctor_fix "$device: port $port is in INIT: it has a cable, but no LID yet" \
      "no subnet manager runs on this fabric" "on one machine of it: sudo systemctl start opensm"
  elif [[ $link == InfiniBand ]]; then
    doctor_fix "$device: port $port is $state: no traffic, completions end with RETRY_EXC" \
      "no cable, or the other end is off" "plug it in, then look again: ibv_devinfo -d $device"
  elif [[ -n $netdev ]] && (((flags & 1) == 0)); then
    doctor_fix "$device: port $port is $state, because its interface $netdev is down" \
      "a RoCE or iWARP port follows its network interface" "${doctor_as_root}ip link set $netdev up"
  else
    doctor_fix "$device: port $port is $state, though its interface ${netdev:-(not known)} is up" \
      "no carrier: no cable, or the other end is off" "plug it in, then look again: ip link show ${netdev:-}"
  fi
}

# doctor_check_active_port DEVICE PORT: address, GIDs; adds a text to doctor_active.
doctor_check_active_port() {
  local device=$1 port=$2 link netdev address text status=0
  doctor_read "$doctor_root/sys/class/infiniband/$device/ports/$port/link_layer" || true
  link=${REPLY:-Ethernet}
  doctor_netdev "$device" "$port"
  netdev=$REPLY
  text="port $port is active ($link"
  [[ -z $netdev ]] || text+=", interface $netdev"
  if [[ $netdev == lo ]]; then
    doctor_fix "$device: its interface is lo" \
      "an rxe link on lo has GIDs, but a queue pair over them does not reach RTR, and rdma_cm finds no route to 127.0.0.1" \
      "${doctor_as_root}rdma link delete $device; $(doctor_link_command)"
    doctor_broken+=("$device")
    status=1
  elif [[ -n $netdev ]] && doctor_has_command ip; then
    mapfile -t address < <(doctor_addresses "$netdev")
    text+=" with ${address[0]-no address}"
    if [[ -z ${address[0]-} && $link == InfiniBand ]]; then
      doctor_note "$device: its interface $netdev has no IP address; only rdma_cm needs one on InfiniBand"
    elif [[ -z ${address[0]-} ]]; then
      doctor_fix "$device: its interface $netdev has no IP address" \
        "rdma_cm needs one on both ends (address resolution finds nothing without), and a RoCE port gets its GIDs from them" \
        "${doctor_as_root}ip address add 192.0.2.1/24 dev $netdev (or an address of your own network)"
      status=1
    fi
  fi
  if ! doctor_has_gid "$device" "$port"; then
    doctor_fix "$device: the GID table of port $port is empty" \
      "GIDs follow the interface's addresses, the IPv6 link-local one among them; no queue pair can connect without a GID" \
      "${doctor_as_root}ip address add 192.0.2.1/24 dev ${netdev:-INTERFACE} (or an address of your own network)"
    doctor_broken+=("$device")
    status=1
  fi
  doctor_active+=("$text)")
  return "$status"
}

doctor_has_gid() {
  local file
  for file in "$doctor_root/sys/class/infiniband/$1/ports/$2/gids"/*; do
    if doctor_read "$file" && [[ $REPLY =~ [1-9a-f] ]]; then return; fi
  done
  return 1
}
