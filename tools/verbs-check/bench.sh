#!/usr/bin/env bash
# What watching costs: 64-byte RC ping-pong, both sides on one host, without the checker, with it, and with it writing a
# trace. Prints the median of the ratios to the run without it, and fails when one is above its limit.
# bench.sh [ROUNDS]; the target bench-verbs-check runs it.
set -euo pipefail
rounds=${1:-21}
limit_default=1.10 limit_trace=1.50

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=${here%/tools/*}
check=$root/build/tools/verbs-check/verbs-check

# A line for each round: the microseconds of the three ways, for each program. The ways take turns, so that what else the
# machine does meets all of them, and each is the first one as often as the others.
# shellcheck disable=SC2016 # expanded on the host
script='
  check=$1 rounds=$2 chapter=$3
  port=19000
  work=$(mktemp -d)
  ways=("without" "default" "trace")
  once() { # WAY CMD...
    local under=() server way=$1
    case $way in
      default) under=("$check" --) ;;
      trace) under=("$check" --trace "$work/trace" --) ;;
    esac
    shift
    port=$((port + 1))
    ${under[@]+"${under[@]}"} "$@" -p $port >"$work/server" 2>&1 &
    server=$!
    # The stock client does not wait for its server.
    until grep -q ":$(printf %04X $port) [^ ]* 0A " /proc/net/tcp /proc/net/tcp6; do
      kill -0 $server 2>/dev/null || { cat "$work/server" >&2; exit 1; }
      sleep 0.05
    done
    ${under[@]+"${under[@]}"} "$@" -p $port localhost >"$work/client" 2>&1 || { cat "$work/client" >&2; exit 1; }
    wait "$server" || { cat "$work/server" >&2; exit 1; }
    cp "$work/client" "$work/$way.out"
  }
  # values NAME EXPRESSION: what the expression takes out of what the three ways have printed.
  values() {
    echo "$1 $(sed -nE "$2" "$work/without.out") $(sed -nE "$2" "$work/default.out") $(sed -nE "$2" "$work/trace.out")"
  }
  compare() { # NAME CMD...
    local round i name=$1
    shift
    for ((round = 0; round < rounds; ++round)); do
      for i in 0 1 2; do
        once "${ways[(i + round) % 3]}" "$@"
      done
      values "$name" "s,.* ([0-9.]+) usec/iter\$,\1,p"
      # What else the machine does meets the mean of a run, and hardly its median. Only the chapter prints it.
      values "$name:median" "s,^round trip: median ([0-9.]+) .*,\1,p"
    done
  }
  compare chapter-11 "$chapter" -s 64 -n 10000
  compare ibv_rc_pingpong ibv_rc_pingpong -g 1 -s 64 -n 10000
  rm -rf "$work"'
cd "$root"
# Both sides poll, so each needs a processor: on a host of its own, with two of them.
LAB_CACHE=${LAB_CACHE:-${LAB_STATE:-$root/.lab}/cache}
LAB_STATE=$(mktemp -d)
export LAB_CACHE LAB_STATE LAB_HOST_PROCESSORS=2
trap './lab down server; rm -rf "$LAB_STATE"' EXIT
./lab exec server -- bash -c "set -euo pipefail; $script" bash "$check" "$rounds" "$root/build/chapters/11-rc-ping-pong" |
  awk -v default_limit="$limit_default" -v trace_limit="$limit_trace" '
    # The median of the values NAME:COLUMN:1 .. NAME:COLUMN:n.
    function median(name, column, n,    i, j, value, sorted) {
      for (i = 1; i <= n; ++i) {
        value = values[name, column, i]
        for (j = i - 1; j > 0 && sorted[j] > value; --j) sorted[j + 1] = sorted[j]
        sorted[j + 1] = value
      }
      return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
    }
    NF == 4 {
      n = ++count[$1]
      values[$1, "plain", n] = $2
      values[$1, "default", n] = $3 / $2
      values[$1, "trace", n] = $4 / $2
    }
    END {
      for (name in count) {
        n = count[name]
        with = median(name, "default", n)
        trace = median(name, "trace", n)
        printf "%-18s %.2f usec without; %.3f times as long with the checker, %.3f with a trace (medians of %d rounds)\n",
          name, median(name, "plain", n), with, trace, n
        # The means have in them what happens once: each place of a call is looked up in the debug information.
        if (name ~ /:median/ && (with > default_limit || trace > trace_limit)) bad = 1
      }
      if (!(("chapter-11:median") in count)) bad = 1
      printf "limits of the round trip'"'"'s median: %s and %s\n", default_limit, trace_limit
      exit bad
    }' || status=$?
printf 'measured on: both sides on the host server; %s\n' "$(./lab status | sed -n 's/^server: //p')"
exit "${status:-0}"
