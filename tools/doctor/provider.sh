# shellcheck shell=bash
# Part of ./lab doctor. Looks for the userspace half of a device driver: its libibverbs provider.

# doctor_provider DEVICE: sets REPLY to the name of its libibverbs provider, or fails where it is not known. Device names
# say nothing, udev renames them; an rxe or siw device is no hardware and has its interface in "parent".
doctor_provider() {
  local device=$1 folder=$doctor_root/sys/class/infiniband/$1 driver
  driver=$(readlink "$folder/device/driver") || driver=
  case ${driver##*/} in
    mlx5_core) REPLY=mlx5 ;;
    mlx4_core) REPLY=mlx4 ;;
    ib_mthca) REPLY=mthca ;;
    bnxt_en) REPLY=bnxt_re ;;
    cxgb4 | efa | erdma | mana | vmw_pvrdma | ocrdma) REPLY=${driver##*/} ;;
    be2net) REPLY=ocrdma ;;
    qede) REPLY=qedr ;;
    ice | i40e | irdma | idpf) REPLY=irdma ;;
    hfi1) REPLY=hfi1verbs ;;
    qib | ib_qib) REPLY=ipathverbs ;;
    hns3 | hns_roce*) REPLY=hns ;;
    *)
      case $device in
        siw*) REPLY=siw ;;
        rxe*) REPLY=rxe ;;
        *)
          REPLY=rxe
          [[ -e $folder/parent ]]
          ;;
      esac
      ;;
  esac
}

doctor_check_provider() {
  local device=$1 provider missing=() file fix
  if ! doctor_provider "$device"; then
    doctor_note "$device: which libibverbs provider it needs is not known here; ibv_devices shows whether it is found"
    return 0
  fi
  provider=$REPLY
  grep -qsxE "driver +$provider" "$doctor_root"/etc/libibverbs.d/*.driver || missing+=("/etc/libibverbs.d/$provider.driver")
  file=$(compgen -G "$doctor_root/usr/lib*/libibverbs/lib$provider-rdmav*.so" ||
    compgen -G "$doctor_root/usr/lib/*/libibverbs/lib$provider-rdmav*.so" ||
    compgen -G "$doctor_root/usr/local/lib*/libibverbs/lib$provider-rdmav*.so") || file=
  [[ -n $file ]] || missing+=("lib$provider-rdmav*.so")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  if [[ -n $(packages_missing ibverbs-providers) ]]; then
    # Not broken: ./lab installs it before anything runs, or says that it cannot.
    fix="${doctor_as_root}apt-get install ibverbs-providers"
  else
    # dpkg brings back a deleted file of /etc only when told to.
    fix="${doctor_as_root}apt-get install --reinstall -o Dpkg::Options::=--force-confmiss ibverbs-providers"
    doctor_broken+=("$device")
  fi
  [[ -n $doctor_has_apt ]] || fix="install rdma-core with its libibverbs providers"
  doctor_fix "$device: its userspace half is missing (provider $provider: ${missing[*]})" \
    "without it ibv_devices prints an empty table and 'no userspace device-specific driver found'" "$fix"
  return 1
}
