# shellcheck shell=bash
# For tests that run programs and look at what they print. Sourced with LAB_ROOT set; ends the test at the first
# expectation that does not hold, with the command, what was expected, and what was seen.
set -euo pipefail

WORK=$(mktemp -d)
declare -A STARTED FINISHED COMMANDS

# clean_up [PATH...]: ends what was started and not finished, and removes the paths. For the trap of a test's end.
clean_up() {
  local name
  for name in "${!STARTED[@]}"; do
    [[ -n ${FINISHED[$name]-} ]] || kill "${STARTED[$name]}" 2>/dev/null || true
  done
  rm -rf "$WORK" "$@"
}
trap clean_up EXIT

# scaled SECONDS: a deadline, stretched by LAB_TIME_SCALE.
scaled() { printf '%s\n' $(($1 * ${LAB_TIME_SCALE:-1})); }

# A device is there, or the test is skipped with the reason; where a device is required the skip is a failure.
require_device() {
  local reason
  if ! reason=$("$LAB_ROOT/lab" exec server -- true 2>&1); then
    printf 'no device to test on: %s\n' "$reason"
    [[ -z ${LAB_REQUIRE_DEVICE-} ]] || exit 1
    exit 77
  fi
}

# run CMD...: runs it, and keeps its exit status in STATUS, its output in $WORK/out and $WORK/err. It may take RUN_LIMIT
# seconds.
RUN_LIMIT=60
run() {
  COMMAND="$*"
  STATUS=0
  timeout "$(scaled "$RUN_LIMIT")" "$@" </dev/null >"$WORK/out" 2>"$WORK/err" || STATUS=$?
}

# on HOST CMD...: the same on a host.
on() { run "$LAB_ROOT/lab" exec "$1" -- "${@:2}"; }

wrong() {
  printf 'FAILED: %s\n  expected %s\n' "$COMMAND" "$1"
  printf '  exit status %s\n  --- standard output\n' "$STATUS"
  sed 's/^/  /' "$WORK/out"
  printf '  --- standard error\n'
  sed 's/^/  /' "$WORK/err"
  exit 1
}

expect_status() { [[ $STATUS -eq $1 ]] || wrong "exit status $1"; }

# expect_out REGEX / expect_err REGEX: some line matches. expect_no_err: standard error is empty.
expect_out() { grep -qE -- "$1" "$WORK/out" || wrong "on standard output: $1"; }
expect_err() { grep -qE -- "$1" "$WORK/err" || wrong "on standard error: $1"; }
expect_no_out() { ! grep -qE -- "$1" "$WORK/out" || wrong "nothing on standard output like: $1"; }
expect_no_err() { [[ ! -s $WORK/err ]] || wrong "nothing on standard error"; }

# expect_usage_error REGEX: the program refuses its command line.
expect_usage_error() {
  expect_status 2
  expect_err "$1"
}

# start NAME HOST CMD...: runs CMD on a host in the background; what it prints goes to $WORK/NAME. finish NAME waits for it:
# STATUS is its exit status, and the expectations look at what it printed, both streams together.
start() {
  local name=$1 host=$2
  shift 2
  : >"$WORK/$name" # here, not only in the background: wait_for must not see what an earlier one of this name printed
  timeout "$(scaled 300)" "$LAB_ROOT/lab" exec "$host" -- "$@" </dev/null >"$WORK/$name" 2>&1 &
  STARTED[$name]=$!
  FINISHED[$name]=
  COMMANDS[$name]="$host: $*"
}

finish() {
  STATUS=0
  wait "${STARTED[$1]}" || STATUS=$?
  FINISHED[$1]=yes
  COMMAND=${COMMANDS[$1]}
  cp "$WORK/$1" "$WORK/out"
  : >"$WORK/err"
}

# wait_for NAME REGEX: until what was started has printed such a line. For a server: that it listens.
wait_for() {
  local tries=$(($(scaled 60) * 10))
  until grep -qE -- "$2" "$WORK/$1"; do
    if ((--tries == 0)) || ! kill -0 "${STARTED[$1]}" 2>/dev/null; then
      finish "$1"
      wrong "a line like: $2"
    fi
    sleep 0.1
  done
}

# wait_listening NAME HOST PORT: until what was started, on HOST, listens on the TCP port. For a program that does not say so,
# and to which no test connection can be made.
wait_listening() {
  local tries=$(($(scaled 60) * 2)) port
  port=$(printf ':%04X 0*:0000 0A' "$3")
  until "$LAB_ROOT/lab" exec "$2" -- cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE "$port"; do
    if ((--tries == 0)) || ! kill -0 "${STARTED[$1]}" 2>/dev/null; then
      finish "$1"
      wrong "that it listens on port $3"
    fi
    sleep 0.5
  done
}

# ended NAME STATUS: of a run on a host that did many things in one go, and put all that they printed into $WORK/all, each
# ended by a line "=== NAME STATUS": what follows looks at the output of that one.
ended() {
  COMMAND="run '$1' on the host" STATUS=0
  : >"$WORK/err"
  awk -v name="$1" '/^=== / { if ($2 == name) { printf "%s", text; found = $3 } text = ""; next } { text = text $0 "\n" }
    END { exit found == "" ? 255 : found }' "$WORK/all" >"$WORK/out" || STATUS=$?
  expect_status "$2"
}

# without_devices CMD...: the words to run CMD on a host so that it sees no RDMA device: in a mount namespace of its own,
# in which the providers' configuration is empty. The kernel's devices stay for everybody else.
without_devices() {
  # shellcheck disable=SC2016 # expanded on the host
  printf '%s\0' unshare --mount sh -c 'mount -t tmpfs none /etc/libibverbs.d && exec "$@"' sh "$@"
}

# expect_usual_refusals PROGRAM: what every chapter does on the server: an option that it does not have is a usage error, and
# without a device it says where to look.
expect_usual_refusals() {
  local alone
  on server "$1" --nosuch
  expect_usage_error 'nosuch'
  mapfile -d '' alone < <(without_devices "$1")
  on server "${alone[@]}"
  expect_status 1
  expect_err 'this machine has no RDMA device.*doctor'
}
