#!/usr/bin/env bash
# The stock tools, between two hosts, without the checker and with it: the same exit status, the same output but for
# numbers, and exactly the findings that docs/verbs-check/stock-tools.md says are true.
. "${LAB_ROOT:?}/tests/lib.sh"
require_device
for tool in rping ib_send_lat; do
  command -v $tool >/dev/null || { printf '%s is not installed (./lab test installs it)\n' $tool; exit 77; }
done
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
shared=$(mktemp -d "$LAB_ROOT/build/tests/verbs-check/stock.XXXXXX") # below the checkout: both hosts see it
trap 'clean_up "$shared"' EXIT

# TOOL SIDE FINDING: what is true, with the number of the object as N. A side without a line has none.
shared_buffer='[receive-buffer-shared] two messages were received into the same memory'
left='was never destroyed'
list="[leak] device list #N $left"
expected="ibv_xsrq_pingpong server [leak] context #N $left
ibv_xsrq_pingpong server [leak] PD #N $left
ibv_xsrq_pingpong server [leak] MR #N $left
ibv_xsrq_pingpong client [leak] context #N $left
ibv_xsrq_pingpong client [leak] PD #N $left
ibv_xsrq_pingpong client [leak] MR #N $left
ibv_srq_pingpong server $shared_buffer
ibv_srq_pingpong client $shared_buffer
udaddy server $shared_buffer
udaddy client $shared_buffer
ucmatose server $shared_buffer
ucmatose client $shared_buffer
ib_send_lat server $list
ib_send_lat client $list
ib_write_bw server $list
ib_write_bw client $list
ib_read_lat server $list
ib_read_lat client $list
ib_atomic_lat server $list
ib_atomic_lat server [leak] context #N $left
ib_atomic_lat server [leak] PD #N $left
ib_atomic_lat server [leak] MR #N $left
ib_atomic_lat server [leak] CQ #N $left
ib_atomic_lat server [leak] QP #N $left
ib_atomic_lat client $list"

# Each side goes through the tools in two rows at a time, each tool first without the checker, then with it. The server says
# in the shared folder that a tool listens; only then the client starts its own. "=== TOOL MODE STATUS" ends the output of
# each. Few processes are started besides, since that takes most of the time on an emulated host.
# shellcheck disable=SC2016 # expanded on the host
script='
  side=$1 check=$2 shared=$3 limit=$4 scale=$5
  exec {never}<> <(:)
  pause() { read -rt "$1" -u "$never" || true; }
  # The tools say nothing when they listen. Some do so on a TCP port, some in the RDMA connection manager.
  listens() { # TOOL
    case $1 in
      rping | udaddy | ucmatose) [[ $(rdma resource show cm_id) == *"state LISTEN"*"comm $1"* ]] ;;
      *) [[ $(</proc/net/tcp)$(</proc/net/tcp6) == *:"$number "+([0:])" 0A "* ]] ;;
    esac
  }
  run() { # MODE CMD...
    local mode=$1 tool=$2 out=/tmp/stock.$2 status=0 i
    shift
    [ $mode = plain ] || set -- "$check" -- "$@"
    if [ $side = client ]; then
      until [ -e "$shared/$tool.$mode" ]; do pause 0.2; done
      timeout "$limit" "$@" 2>$out.err || status=$?
    else
      timeout "$limit" "$@" >$out.out 2>$out.err &
      # One that has ended already, as those do that have no other side, listens no more.
      for ((i = 0; i < 50 * scale; ++i)); do
        pause 0.2
        if listens $tool || ! kill -0 $! 2>/dev/null; then break; fi
      done
      : >"$shared/$tool.$mode"
      wait $! || status=$?
      cat $out.out
    fi
    cat $out.err # after the output: what the tool has not written yet would be cut by it
    echo "=== $tool $mode $status"
  }
  both() { # TOOL OPTIONS...: the last options are those of the client and of the server
    for mode in plain watched; do
      port=$((port + 1))
      printf -v number %04X $port
      case $1 in
        ibv_devices | ibv_devinfo | ibv_xsrq_pingpong) run $mode "$@" ;;
        rping) if [ $side = server ]; then run $mode "$@" -p $port -s -a 192.0.2.1; else run $mode "$@" -p $port -c -a 192.0.2.1; fi ;;
        ucmatose) if [ $side = server ]; then run $mode "$@" -p $port -b 192.0.2.1; else run $mode "$@" -p $port -s 192.0.2.1; fi ;;
        udaddy) if [ $side = server ]; then run $mode "$@" -b 192.0.2.1; else run $mode "$@" -s 192.0.2.1; fi ;;
        *) if [ $side = server ]; then run $mode "$@" -p $port; else run $mode "$@" -p $port 192.0.2.1; fi ;;
      esac
    done
  }
  {
    port=18800
    for tool in ib_send_lat ib_write_bw ib_read_lat ib_atomic_lat; do both $tool -x 1 -n 50 -s 8; done
    both ibv_devices
    both ibv_devinfo -v
  } >/tmp/stock.first &
  {
    port=18850
    for type in rc uc ud srq; do both ibv_${type}_pingpong -g 1 -n 50; done
    both ibv_xsrq_pingpong -g 1 # Soft-RoCE has no XRC: it refuses
    both rping -C 3
    both udaddy
    both ucmatose
  } >/tmp/stock.second
  wait
  cat /tmp/stock.first /tmp/stock.second'
RUN_LIMIT=600
for side in server client; do
  timeout "$(scaled 500)" "$LAB_ROOT/lab" exec $side -- bash -c "$script" bash $side "$check" "$shared" "$(scaled 60)" "${LAB_TIME_SCALE:-1}" \
    </dev/null >"$WORK/$side" 2>&1 &
  STARTED[$side]=$!
  COMMANDS[$side]="the stock tools on $side"
done

failed=0
# Numbers are different in each run, and so are addresses, and the blanks beside them. Whether the client of rping still sees the
# server hang up is a race. The tools of perftest measure the processor's frequency first, which has no result on some hosts at
# some times, and then they say so.
compared() { sed -E '/^client DISCONNECT EVENT/d; /^Correlation coefficient/d; s/-?\<(nan|inf)\>/0/g; s/(::ffff:|fe80::)[0-9a-f.:]+/ADDRESS/g; s/0x[0-9a-fA-F]+/N/g; s/[0-9]+(\.[0-9]+)*/N/g; s/[[:blank:]]+/ /g; s/ $//'; }
: >"$WORK/found"
for side in server client; do
  finish $side
  expect_status 0
  awk -v work="$WORK/$side." '/^=== / { file = work $2 "." $3; print $4 >(file ".status"); printf "%s", text >file; text = ""; next }
    { text = text $0 "\n" }' "$WORK/out"
  for file in "$WORK/$side".*.watched; do
    tool=${file#"$WORK/$side."} tool=${tool%.watched}
    plain=$WORK/$side.$tool.plain
    if ! cmp -s "$plain.status" "$file.status" ||
      ! diff <(compared <"$plain") <(grep -v '^verbs-check:' "$file" | compared) >"$WORK/diff"; then
      printf '%s, %s: exit status %s and output without the checker (<), exit status %s and output with it (>)\n' "$tool" "$side" \
        "$(<"$plain.status")" "$(<"$file.status")"
      cat "$WORK/diff"
      failed=1
    fi
    sed -nE "/came [0-9]+ times/d; s/#[0-9]+/#N/g; s/^verbs-check: (\[.*)/$tool $side \1/p" "$file" >>"$WORK/found"
  done
done
if ! diff <(sort <<<"$expected") <(sort -u "$WORK/found") >"$WORK/diff"; then
  printf 'findings: expected (<), found (>)\n'
  cat "$WORK/diff"
  failed=1
fi
# The page says what was expected here, and why it is true.
while read -r tool _ finding; do
  id=${finding%%]*} id=${id#[}
  grep -qE "^\|.*\`$tool\`.*\[$id\]" "$LAB_ROOT/docs/verbs-check/stock-tools.md" ||
    { printf 'docs/verbs-check/stock-tools.md has no row for %s and %s\n' "$tool" "$id"; failed=1; }
done <<<"$expected"
printf '%s runs of stock tools with the checker\n' "$(find "$WORK" -name '*.watched' | wc -l)"
exit $failed
