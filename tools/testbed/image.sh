# shellcheck shell=bash
# The guest's kernel and initramfs, made once and kept in LAB_CACHE. Sourced after tools/lib.sh, never run.
#
#   LAB_CACHE/kernel/             vmlinux, release (its version), modules/ (plain .ko), modules/list (in loading order)
#   LAB_CACHE/initramfs-CHECKSUM  busybox, the modules, init, session; CHECKSUM is that of its sources
#
# The distribution's kernel package is downloaded and unpacked, not installed: the machine's own /boot stays as it is.

# What the guest needs beyond what is built into the kernel. Their dependencies are found by modprobe.
image_modules=(virtio_pci virtio_net 9p 9pnet_virtio rdma_rxe ib_uverbs rdma_ucm dummy)
# rxe asks for "crc32" by name, so modprobe does not see it. Newer kernels have it built in.
image_optional_modules=(crc32_generic)

# testbed_image: sees to it that kernel and initramfs are there, and sets image_kernel and image_initramfs.
testbed_image() {
  image_locate
  if [[ ! -e $image_kernel/release || ! -e $image_initramfs ]]; then
    { mkdir -p "$LAB_CACHE" && [[ -w $LAB_CACHE ]]; } 2>/dev/null ||
      fail "cannot write to $LAB_CACHE, where the hosts' kernel is kept: make it a folder of this user, or set LAB_CACHE to another one"
    # The lock must be one for all checkouts which share the cache.
    LAB_STATE=$LAB_CACHE with_lock image image_make || exit
  fi
}

image_locate() {
  local sum
  sum=$(cat "$LAB_ROOT/tools/testbed/"{init,image.sh,session.cpp,stale.cpp,stale.hpp} | cksum) || exit 1
  image_kernel=$LAB_CACHE/kernel
  image_initramfs=$LAB_CACHE/initramfs-${sum%% *}
}

# Everything is made in a folder beside its place and moved when complete: what is in place is never half-written.
image_make() {
  local temp
  rm -rf "$LAB_CACHE"/making.*   # of a call that was killed: the lock is ours
  temp=$(mktemp -d "$LAB_CACHE/making.XXXXXX") || fail "cannot write to $LAB_CACHE"
  # shellcheck disable=SC2064 # the folder's name of now is meant
  trap "rm -rf '${temp//\'/\'\\\'\'}'" EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if [[ ! -e $image_kernel/release ]]; then image_make_kernel "$temp"; fi
  if [[ ! -e $image_initramfs ]]; then image_make_initramfs "$temp"; fi
}

# image_packages: the packages with the newest kernel of this distribution, with all its modules.
image_packages() {
  local meta name
  for meta in linux-image-amd64 linux-image-generic; do
    name=$(apt-cache depends --no-recommends --no-suggests "$meta" 2>/dev/null |
      sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
    [[ -n $name ]] || continue
    printf '%s\n' "$name"
    # Ubuntu splits the modules off; rdma_rxe is in the "extra" ones, on releases which have them.
    if [[ $meta == linux-image-generic ]]; then
      for name in "${name/image/modules}" "${name/image/modules-extra}"; do
        if [[ -n $(apt-cache show "$name" 2>/dev/null) ]]; then printf '%s\n' "$name"; fi
      done
    fi
    return
  done
  return 1
}

image_make_kernel() {
  local temp=$1 packages release file
  packages=$(image_packages) ||
    fail "no kernel package is known to apt (linux-image-amd64 or linux-image-generic). Run: sudo apt-get update"
  say "testbed: downloading the guest's kernel: ${packages//$'\n'/ }"
  mkdir "$temp/download" "$temp/tree" "$temp/kernel" "$temp/kernel/modules" || exit 1
  # apt-get checks size and hash of what it downloads. It wants one argument a package. Its own lock is not needed.
  # shellcheck disable=SC2086
  (cd "$temp/download" && apt-get -q -o APT::Sandbox::User="$(id -un)" download $packages) >"$temp/log" 2>&1 ||
    { tail -n 5 "$temp/log" >&2
      fail "the download of the guest's kernel failed: no network, or old lists? Run: sudo apt-get update"; }
  say "testbed: unpacking it"
  for file in "$temp"/download/*.deb; do
    dpkg-deb -x "$file" "$temp/tree" 2>"$temp/log" ||
      fail "cannot unpack ${file##*/} in $LAB_CACHE: $(head -n 1 "$temp/log" || true) (about 600 MB must be free there)"
  done
  file=$(find "$temp/tree/boot" -name 'vmlinuz-*' | head -n 1)
  [[ -n $file ]] || fail "no kernel in ${packages//$'\n'/ }"
  release=${file##*/vmlinuz-}
  image_unpack_kernel "$file" "$temp/kernel/vmlinux"
  # A merged /usr: some packages have the modules below usr/lib.
  if [[ ! -d $temp/tree/lib/modules ]]; then
    mkdir -p "$temp/tree/lib" && mv "$temp/tree/usr/lib/modules" "$temp/tree/lib/" || exit 1
  fi
  PATH=$PATH:/usr/sbin:/sbin
  depmod -b "$temp/tree" "$release" || fail "depmod failed on the guest's modules"
  image_pick_modules "$temp/tree" "$release" "$temp/kernel/modules" ||
    fail "cannot take the needed modules out of the kernel package $release"
  printf '%s\n' "$release" >"$temp/kernel/release" || exit 1
  rm -rf "$image_kernel"
  mv "$temp/kernel" "$image_kernel" || exit 1
  rm -rf "$temp/tree" "$temp/download"
}

# image_pick_modules TREE RELEASE TO: copies the modules, unpacked, and writes TO/list.
image_pick_modules() {
  local tree=$1 release=$2 to=$3 module how path name
  for module in "${image_optional_modules[@]}"; do
    modprobe --show-depends -d "$tree" -S "$release" "$module" >>"$to/depends" 2>/dev/null || true
  done
  for module in "${image_modules[@]}"; do
    modprobe --show-depends -d "$tree" -S "$release" "$module" >>"$to/depends" || return 1
  done
  # Lines are "insmod PATH [OPTIONS]" or "builtin NAME"; the same module may be asked for several times.
  while read -r how path _; do
    [[ $how == insmod ]] || continue
    name=${path##*/}
    name=${name%%.ko*}.ko
    if [[ -e $to/$name ]]; then continue; fi
    case $path in
      *.ko) cp "$path" "$to/$name" ;;
      *.ko.xz) xz -dc "$path" >"$to/$name" ;;
      *.ko.zst) zstd -qdc "$path" >"$to/$name" ;;
      *) say "unknown kind of module: $path"; false ;;
    esac || return 1
    printf '%s\n' "$name" >>"$to/list"
  done <"$to/depends"
  rm "$to/depends"
}

# image_unpack_kernel VMLINUZ TO: the uncompressed kernel, which QEMU can start by its PVH entry: without the
# unpacking inside the guest, which takes seconds in emulation. A kernel that is packed otherwise stays as it is.
image_unpack_kernel() {
  local from=$1 to=$2 sectors offset length size unpack
  # Linux boot protocol: setup_sects, payload_offset, payload_length.
  sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$from") || exit 1
  offset=$(od -An -tu4 -j $((0x248)) -N 4 "$from") || exit 1
  length=$(od -An -tu4 -j $((0x24c)) -N 4 "$from") || exit 1
  offset=$(((sectors + 1) * 512 + offset))
  # Behind the packed kernel, and part of the payload, stands its unpacked size.
  size=$(od -An -tu4 -j $((offset + length - 4)) -N 4 "$from") || exit 1
  length=$((length - 4))
  case $(od -An -tx1 -j $offset -N 4 "$from") in
    ' fd 37 7a 58') unpack='xz -dc' ;;
    ' 28 b5 2f fd') unpack='zstd -dcq' ;;
    ' 1f 8b '*) unpack='gzip -dc' ;;
    *) unpack= ;;
  esac
  # Complete if it has that size. The PVH note, which QEMU wants, is one of type 18 with owner "Xen".
  if [[ -n $unpack ]]; then
    (set +o pipefail; tail -c +$((offset + 1)) "$from" | head -c $length | $unpack >"$to") 2>/dev/null || true
    if (($(stat -c %s "$to") == size)) && LC_ALL=C grep -qaP '\x12\x00\x00\x00Xen\x00' "$to"; then return; fi
  fi
  cp "$from" "$to" || exit 1
}

image_make_initramfs() {
  local temp=$1 root=$1/root busybox
  busybox=$(command -v busybox) || fail "busybox is missing (package busybox-static)"
  mkdir -p "$root"/{bin,dev,proc,sys,newroot} || exit 1
  "${CXX:-c++}" -std=c++20 -O1 -s -static -o "$root/bin/session" "$LAB_ROOT"/tools/testbed/{session,stale}.cpp ||
    fail "cannot compile tools/testbed/session.cpp and stale.cpp"
  if ! cp "$busybox" "$root/bin/busybox" || ! cp -r "$image_kernel/modules" "$root/modules" ||
    ! cp "$LAB_ROOT/tools/testbed/init" "$root/init"; then
    fail "cannot write the initramfs to $LAB_CACHE"
  fi
  chmod +x "$root/init"
  # Not compressed: unpacking costs more time in emulation than loading. pipefail matters: cpio in a full folder fails.
  (set -o pipefail; cd "$root" && find . | cpio --quiet -o -H newc -R 0:0 >"$temp/initramfs") ||
    fail "cannot write the initramfs to $LAB_CACHE"
  # Older ones go; a new one may be that of another checkout.
  find "$LAB_CACHE" -maxdepth 1 -name "initramfs-*" -mtime +0 -delete
  mv "$temp/initramfs" "$image_initramfs" || exit 1
}
