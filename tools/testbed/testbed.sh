# shellcheck shell=bash
# The testbed: two resident Soft-RoCE hosts, "server" and "client", each a small QEMU machine. Sourced after
# tools/lib.sh and tools/testbed/image.sh, never run.
#
#   LAB_STATE/testbed/key, host_key, authorized_keys   made once, for this state folder only
#   LAB_STATE/testbed/accel                            whether KVM was seen to work here
#   LAB_STATE/testbed/HOST/pid                                 of its QEMU; believed only if that is what it is
#   LAB_STATE/testbed/HOST/port                        the ssh port on 127.0.0.1; written when the host is ready
#   LAB_STATE/testbed/HOST/{info,console.log,qemu.log,net.sock}
#
# A host ends by testbed_down, or by itself: when idle, on a panic, when its ssh server is gone.
# LAB_HOST_PROCESSORS is how many each host has, for what needs two of them.
# LAB_ACCEL=kvm|tcg overrides the choice; LAB_IDLE_MINUTES (30; 0: never) is how long an idle host stays.

testbed_dir=$LAB_STATE/testbed
testbed_hosts=(server client)

testbed_packages() {
  printf '%s\n' qemu-system-x86 busybox-static dropbear-bin cpio kmod openssh-client iproute2 util-linux \
    xz-utils zstd g++
}

testbed_address() {
  case $1 in
    server) echo 192.0.2.1 ;;
    client) echo 192.0.2.2 ;;
    *) usage_error "no such host: $1 (there are: ${testbed_hosts[*]})" ;;
  esac
}

# testbed_inside: this is a host of the testbed itself. It sees the checkout with the state of the testbed in it, but not the
# processes: to it, everything would look dead.
testbed_inside() { [[ -e /run/lab/session ]]; }

# testbed_pid HOST: sets testbed_pid to the process id of the running host, or fails. A process counts only if it is a
# QEMU, or the shell that is about to become one, and was started in the host's own folder: the number alone may have gone
# to a stranger.
testbed_pid() {
  local comm dir=$testbed_dir/$1
  testbed_pid=
  { read -r testbed_pid <"$dir/pid" && read -r comm <"/proc/$testbed_pid/comm"; } 2>/dev/null || return 1
  [[ ($comm == qemu-system-* || $comm == setsid || $comm == bash || $comm == lab) && /proc/$testbed_pid/cwd -ef $dir ]]
}

# testbed_ready HOST: it runs and has said that it is ready. Starts no process: it is on the way of every exec.
testbed_ready() {
  testbed_pid "$1" && [[ -s $testbed_dir/$1/port && -s $testbed_dir/$1/info && -s $testbed_dir/key ]]
}

# testbed_version: changes whenever a file of the testbed does.
testbed_version() { cat "$LAB_ROOT"/tools/testbed/* | cksum; }

# testbed_current HOST: it is ready, and was started by this version of the testbed.
testbed_current() { testbed_ready "$1" && [[ $(sed -n 4p "$testbed_dir/$1/info") == "$(testbed_version)" ]]; }

testbed_up() {
  if testbed_inside; then fail "this is a host of the testbed: use its device (--on host)"; fi
  local host missing=()
  for host in "$@"; do
    testbed_address "$host" >/dev/null
    testbed_current "$host" || missing+=("$host")
  done
  if ((${#missing[@]} == 0)); then return; fi
  testbed_image
  with_lock testbed testbed_start_all "${missing[@]}" || exit
}

# Runs under the lock: whatever is half-started now belongs to a call that was broken off.
testbed_start_all() {
  local host accel starting=()
  for host in "$@"; do
    if ! testbed_current "$host"; then
      if testbed_ready "$host"; then say "testbed: $host was started by another version of the testbed: starting it anew"; fi
      testbed_stop "$host"
      starting+=("$host")
    fi
  done
  if ((${#starting[@]} == 0)); then return; fi
  testbed_keys
  # What is started and not ready when this shell ends, ends with it.
  trap 'testbed_stop_unready' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  testbed_choose_accel "${starting[0]}"
  say "testbed: starting ${starting[*]} ($(testbed_accel_text "$accel"))"
  for host in "${starting[@]}"; do
    testbed_pid "$host" || testbed_start "$host" "$accel"
  done
  for host in "${starting[@]}"; do
    testbed_wait_ready "$host" "$(scaled 60)" ||
      { testbed_show_logs "$host"; fail "testbed: $host did not become ready"; }
  done
  say "testbed: ready"
}

testbed_stop_unready() {
  local host
  for host in "${testbed_hosts[@]}"; do testbed_ready "$host" || testbed_stop "$host"; done
}

testbed_keys() {
  local host
  mkdir -p "$testbed_dir" || fail "cannot create $testbed_dir"
  if [[ -s $testbed_dir/key && -s $testbed_dir/host_key && -s $testbed_dir/authorized_keys ]]; then return; fi
  # Whoever runs knows the old ones.
  for host in "${testbed_hosts[@]}"; do testbed_stop "$host"; done
  rm -f "$testbed_dir"/{key,key.pub,host_key}
  if ! ssh-keygen -q -t ed25519 -N '' -C testbed -f "$testbed_dir/key" ||
    ! dropbearkey -t ed25519 -f "$testbed_dir/host_key" >/dev/null 2>&1 ||
    ! mv "$testbed_dir/key.pub" "$testbed_dir/authorized_keys"; then
    fail "cannot make the testbed's keys in $testbed_dir"
  fi
}

testbed_accel_text() {
  if [[ $1 == kvm ]]; then echo KVM; else echo "software emulation"; fi
}

# hex TEXT: as \xNN\xNN..., for the kernel command line, which has its own ideas of spaces and quotes.
testbed_hex() {
  printf %s "$1" | od -An -v -tx1 | tr -d '\n' | sed 's/ /\\x/g'
}

# testbed_start HOST ACCEL: starts it, and returns as soon as QEMU runs.
testbed_start() {
  local host=$1 accel=$2 dir=$testbed_dir/$1 peer number idle accelerator=$2 cpu=host kernel= count=1
  case $host in server) peer=client number=1 ;; client) peer=server number=2 ;; esac
  idle=${LAB_IDLE_SECONDS:-$((${LAB_IDLE_MINUTES:-30} * 60))}
  mkdir -p "$dir" || fail "cannot create $dir"
  if [[ $accel == tcg ]]; then
    # Room for 256 MiB of translated code; the usual 1 GiB is used up in time, for no gain.
    accelerator=tcg,tb-size=256
    # A plain processor starts faster than one with all features; with rdrand nobody waits for entropy.
    cpu=qemu64,+cx16,+popcnt,+ssse3,+sse4.1,+sse4.2,+rdrand
    # The emulated counter is sound. Left to itself the kernel reads the ACPI timer, which takes ten times as long.
    kernel="tsc=reliable clocksource=tsc no_timer_check"
    # A program that lies where it lay before needs no new translation: starting one takes a third to a half less time.
    kernel+=" norandmaps"
    # What the kernel does on every page for nobody: pages are zeroed twice, and counted for groups that there are none of.
    kernel+=" init_on_alloc=0 cgroup_disable=memory psi=0"
  fi
  # Both hosts together get no more processors than there are: one that waits for another, which does not run meanwhile,
  # uses up the time of that one.
  if (($(nproc) >= 4)); then count=2; fi
  count=${LAB_HOST_PROCESSORS:-$count}
  # Relative socket paths: an absolute one may exceed the 108 bytes that a socket's path can have. The datagram sockets
  # know no connection: each host has a link without the other, and either may go and come back.
  # shellcheck disable=SC2054 # the commas are QEMU's
  local command=(
    qemu-system-x86_64 -name "$host" -accel "$accelerator" -cpu "$cpu" -M pc,hpet=off -m 512 -smp "$count"
    -nodefaults -no-user-config -display none -no-reboot -serial file:console.log
    -kernel "$image_kernel/vmlinux" -initrd "$image_initramfs"
    -append "console=ttyS0 quiet panic=-1 nokaslr mitigations=off random.trust_cpu=on cryptomgr.notests \
$kernel lab.host=$host lab.address=$(testbed_address "$host") lab.idle=$idle lab.root=$(testbed_hex "$LAB_ROOT") \
lab.state=$(testbed_hex "$testbed_dir")"
    -virtfs "local,path=/,mount_tag=machine,security_model=none,multidevs=remap,readonly=on"
    -virtfs "local,path=${LAB_ROOT//,/,,},mount_tag=checkout,security_model=none,multidevs=remap"
    -netdev "user,id=control,restrict=on,hostfwd=tcp:127.0.0.1:0-:22"
    -device virtio-net-pci,netdev=control,romfile=,mac="52:54:00:00:02:1$number"
    -netdev "dgram,id=rdma,local.type=unix,local.path=net.sock,remote.type=unix,remote.path=../$peer/net.sock"
    -device virtio-net-pci,netdev=rdma,romfile=,mac="52:54:00:00:02:0$number"
  )
  rm -f "$dir"/{port,info,net.sock,console.log}
  # In a session of its own, so that the terminal's Ctrl-C does not reach it; without the lock's descriptor.
  # The pid stays the same through both exec.
  (cd "$dir" && echo $BASHPID >pid && exec setsid "${command[@]}" </dev/null >qemu.log 2>&1 9>&-) &
  disown   # its end, by our own hand too, is not this shell's to announce
  printf '%s\n' "$accel" "$(<"$image_kernel/release")" "$idle" "$(testbed_version)" >"$dir/info"
}

# testbed_wait HOST SECONDS TEXT: until its console says TEXT; fails when its process or the time is at an end.
testbed_wait() {
  local host=$1 deadline=$((SECONDS + $2)) running=1
  until grep -qsaF "$3" "$testbed_dir/$host/console.log"; do
    # Between the fork and the second exec it is not a QEMU yet.
    if testbed_pid "$host"; then running=; elif [[ -z $running || $((++running)) -gt 20 ]]; then return 1; fi
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# testbed_wait_ready HOST SECONDS
testbed_wait_ready() {
  testbed_wait "$1" "$2" "lab: ready" && testbed_find_port "$1"
}

# QEMU took a free port; which one, the kernel knows.
testbed_find_port() {
  local port
  testbed_pid "$1" || return 1
  port=$(ss -Hltnp | sed -n "s/.* 127\.0\.0\.1:\([0-9]*\) .*[(,]pid=$testbed_pid,.*/\1/p" | head -n 1)
  [[ -n $port ]] && printf '%s\n' "$port" >"$testbed_dir/$1/port.new" &&
    mv "$testbed_dir/$1/port.new" "$testbed_dir/$1/port"
}

testbed_show_logs() {
  local file
  for file in qemu.log console.log; do
    if [[ -s $testbed_dir/$1/$file ]]; then
      say "the end of $testbed_dir/$1/$file:"
      tail -n 15 "$testbed_dir/$1/$file" | tr -d '\r' >&2
    fi
  done
}

# testbed_choose_accel HOST: sets accel. /dev/kvm can be there, open, and still hang every guest for good (a nested
# virtualisation that does not work). So KVM must first be seen to start a guest: HOST, which then stays.
testbed_choose_accel() {
  local verdict=$testbed_dir/accel kernel patience
  accel=${LAB_ACCEL:-}
  case $accel in
    kvm | tcg) return ;;
    *) accel=tcg ;;
  esac
  if [[ ! -r /dev/kvm || ! -w /dev/kvm ]]; then return; fi
  # A verdict holds for the kernel under which it was found.
  if { read -r accel; read -r kernel; } 2>/dev/null <"$verdict" && [[ $kernel == "$(uname -r)" ]]; then return; fi
  say "testbed: trying whether KVM works here"
  patience=$(scaled 3)
  testbed_start "$1" kvm
  if testbed_wait "$1" "$patience" "lab: kernel started" && testbed_wait_ready "$1" "$(scaled 10)"; then
    accel=kvm
  else
    accel=tcg
    testbed_stop "$1"
    say "testbed: /dev/kvm is there, but a guest did not start with it within $patience s: using software emulation."
    say "testbed: This is remembered in $verdict; remove that file to try again."
  fi
  printf '%s\n' "$accel" "$(uname -r)" "seen $(date -Is)" >"$verdict"
}

testbed_down() {
  if testbed_inside; then return; fi
  if (($# == 0)); then set -- "${testbed_hosts[@]}"; fi
  local host
  for host in "$@"; do testbed_address "$host" >/dev/null; done
  with_lock testbed testbed_stop_all "$@"
}

testbed_stop_all() {
  local host
  for host in "$@"; do
    if testbed_pid "$host"; then say "testbed: stopping $host"; fi
    testbed_stop "$host"
  done
}

# testbed_stop HOST: there is nothing in it to save, so it is ended the quick way. Stale files go as well.
testbed_stop() {
  local dir=$testbed_dir/$1
  if testbed_pid "$1"; then
    kill -KILL "$testbed_pid"
    for _ in {1..100}; do
      testbed_pid "$1" || break
      sleep 0.05
    done
    if testbed_pid "$1"; then say "testbed: process $testbed_pid does not end"; fi
  fi
  rm -f "$dir"/{pid,port,net.sock}
}

testbed_status() {
  local host port accel release idle
  for host in "${testbed_hosts[@]}"; do
    if testbed_ready "$host"; then
      port=$(<"$testbed_dir/$host/port")
      { read -r accel; read -r release; read -r idle; } <"$testbed_dir/$host/info"
      printf '%s: up, process %s, %s, Linux %s, RDMA address %s, ssh port %s, ' "$host" "$testbed_pid" \
        "$(testbed_accel_text "$accel")" "$release" "$(testbed_address "$host")" "$port"
      if ((idle)); then echo "stops after $idle s without use"; else echo "never stops by itself"; fi
    else
      printf '%s: down\n' "$host"
    fi
  done
}

testbed_describe() {
  local accel release text
  if ! { read -r accel; read -r release; } 2>/dev/null <"$testbed_dir/server/info"; then
    echo "Soft-RoCE testbed: not started yet"
    return
  fi
  text=$(testbed_accel_text "$accel")
  if [[ $accel == tcg ]]; then text+=" (no KVM)"; fi
  echo "Soft-RoCE testbed: hosts server and client, Linux $release, $text"
}

# testbed_quote WORD...: for a shell, each followed by a space; words may hold anything.
testbed_quote() {
  local word quote="'\\''"
  for word in "$@"; do printf "'%s' " "${word//\'/$quote}"; done
}

# testbed_ssh_command HOST: sets ssh_command.
testbed_ssh_command() {
  local port
  testbed_ready "$1" || testbed_up "$1"
  read -r port <"$testbed_dir/$1/port"
  # Nothing of the user's own configuration; the host is this machine's own, so there is no key of it to remember.
  # A host that hangs is noticed after about 45 s.
  # The key is named without its folder, which is to be the current one: ssh would expand a "%" in it.
  ssh_command=(ssh -F /dev/null -i key -p "$port" -l root
    -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=no
    -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null -o LogLevel=ERROR -o ForwardX11=no
    -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3 -o EscapeChar=none
    -o KexAlgorithms=curve25519-sha256 -o Ciphers=aes128-ctr -o MACs=hmac-sha2-256)
}

# testbed_exec HOST COMMAND [ARGUMENT...]: runs it, and ends this shell with its exit status. The end of this shell, by
# whatever signal, ends the command.
testbed_exec() {
  local host=$1 ssh_command name remote length
  shift
  testbed_address "$host" >/dev/null
  testbed_ssh_command "$host"
  remote="PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SHELL=/bin/bash "
  remote+="LAB_ROOT=$(testbed_quote "$LAB_ROOT")"
  for name in LAB_TIME_SCALE ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS; do
    if [[ -n ${!name+set} ]]; then remote+="$name=$(testbed_quote "${!name}")"; fi
  done
  remote+="exec /run/lab/session $(testbed_quote "$PWD" "$@")"
  # The ssh server takes no more (9000), and would not say why it hangs up. Bytes count, not characters.
  length=$(LC_ALL=C; echo ${#remote})
  if ((length > 8900)); then fail "the command line is too long: about 8900 bytes at most"; fi
  testbed_ssh "$1" "${ssh_command[@]}" -T 127.0.0.1 "$remote"
}

# testbed_ssh NAME SSH...: runs ssh, and ends this shell with the exit status of the command there, called NAME.
testbed_ssh() {
  local name=$1 ssh relay slot pipe both='' ended='' status written=0
  shift
  # Where a standard stream is closed, the next file that is opened would take its place.
  [[ -e /proc/self/fd/0 ]] || exec </dev/null
  [[ -e /proc/self/fd/1 ]] || exec >/dev/null
  [[ -e /proc/self/fd/2 ]] || exec 2>/dev/null
  trap 'ended=130; kill "$ssh" 2>/dev/null' INT
  trap 'ended=143; kill "$ssh" 2>/dev/null' TERM
  trap 'ended=129; kill "$ssh" 2>/dev/null' HUP

  # The ssh server hangs up on the sixth connection at a time that has not said who it is. So four at a time connect; ssh
  # runs its LocalCommand when it is through.
  exec {slot}>"$testbed_dir/connecting.$((BASHPID % 4))"
  flock "$slot"
  trap 'exec {slot}>&-; trap "" USR1' USR1
  set -- "$1" -o PermitLocalCommand=yes -o LocalCommand="kill -USR1 $BASHPID" "${@:2}"

  # An ssh whose output cannot be written goes on for ever, so it writes to a pipe, and the relay ends it. Streams that go
  # to one place do so through one pipe: they stay in order.
  exec {pipe}<> <(:)
  if [[ /proc/self/fd/1 -ef /proc/self/fd/2 ]]; then both=1; fi
  testbed_ssh_begin "$@" <&0 >"/proc/self/fd/$pipe" &
  ssh=$!
  { cat || { status=$?; kill "$ssh" 2>/dev/null; exit "$status"; }; } <"/proc/self/fd/$pipe" {pipe}>&- {slot}>&- &
  relay=$!
  exec {pipe}>&-

  testbed_ssh_wait "$ssh" && status=0 || status=$?
  testbed_ssh_wait "$relay" || written=$?
  if [[ -n $ended ]]; then exit "$ended"; fi
  if ((written > 128)); then exit "$written"; fi # by a signal: what reads the output is gone
  if ((written)); then fail "the output of $name could not be written; it was ended"; fi
  exit "$status"
}

# testbed_ssh_begin SSH...: becomes that ssh, which ends with the shell that started it.
testbed_ssh_begin() {
  if [[ -n $both ]]; then exec 2>&1; fi
  exec {pipe}>&- {slot}>&-
  cd "$testbed_dir" && SHELL=/bin/sh exec setpriv --pdeathsig TERM "$@"
}

# testbed_ssh_wait PID: its exit status. A signal interrupts the waiting, not the process.
testbed_ssh_wait() {
  local status
  while :; do
    wait "$1" && status=0 || status=$?
    kill -0 "$1" 2>/dev/null || return "$status"
  done
}

testbed_shell() {
  local ssh_command
  testbed_address "$1" >/dev/null
  testbed_ssh_command "$1"
  cd "$testbed_dir" || exit 1
  exec "${ssh_command[@]}" -o EscapeChar='~' -t 127.0.0.1 \
    "cd $(testbed_quote "$LAB_ROOT"); SHELL=/bin/bash exec bash -l"
}
