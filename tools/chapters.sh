# shellcheck shell=bash
# Building and running chapters.

# chapters_folder NN: the name of the folder of chapter NN, for instance 01-device-list.
chapters_folder() {
  local number=${1-} folder
  number=${number%%-*} # the whole name of the folder will do as well
  [[ $number =~ ^[0-9]{1,2}$ ]] || usage_error "run wants the number of a chapter, for instance ./lab run 01, and not '${1-}'"
  for folder in "$LAB_ROOT"/chapters/"$(printf '%02d' "$((10#$number))")"-*/; do
    if [[ -d $folder ]]; then
      basename "$folder"
      return
    fi
  done
  usage_error "there is no chapter $number; see ./lab list"
}

chapters_list() {
  [[ $# -eq 0 ]] || usage_error "list takes no arguments"
  local readme
  printf 'chapters, ./lab run NN:\n'
  for readme in "$LAB_ROOT"/chapters/*/README.md; do
    # The first line of a README is its title: "# 01 Device list: ...".
    printf '%s\n' "$(sed -n '1s/^# //p' "$readme")"
  done
  printf '\nlabs, ./lab check NN:\n'
  labs_list
}

# chapters_prepare TARGET HOST...: packages, build and hosts, side by side where they can be.
chapters_prepare() {
  local name=$1 packages
  shift
  mapfile -t packages < <(place_packages)
  packages_need "${packages_build[@]}" "${packages[@]}"
  if [[ $(place) != testbed ]]; then
    place_up "$@" # quick, and nothing need be built when it fails
    build default "$name"
    return
  fi
  lib_make_state # before anything goes on behind it
  place_up "$@" &
  local hosts=$!
  # Of its own, so that also where it ends the shell somebody waits for the hosts.
  (build default "$name") || { wait "$hosts"; exit 1; }
  wait "$hosts"
}

# A chapter has two sides when its program takes the server's address.
chapters_has_two_sides() { grep -q 'Opt::server' "$LAB_ROOT/chapters/$1/main.cpp"; }

chapters_run() {
  local name program status=0
  name=$(chapters_folder "$@")
  shift
  [[ " $* " != *" --on "* ]] || usage_error "--on goes before the command: ./lab --on PLACE run ${name%%-*}"
  program=$LAB_ROOT/build/chapters/$name
  if chapters_has_two_sides "$name" && [[ " $* " != *" --help "* && " $* " != *" -h "* ]]; then
    chapters_prepare "$name" server client
    chapters_run_both "$program" "$@" || status=$?
  else
    chapters_prepare "$name" server
    (place_exec server "$program" "$@") || status=$?
  fi
  # A program that is ended by a signal says nothing itself.
  [[ $status -le 128 || $status -eq 255 ]] || say "$name was ended by signal $(kill -l $((status - 128)))"
  return "$status"
}

# chapters_run_both PROGRAM [ARGS]: the server's and the client's side, each line marked with its host. The exit status is
# that of the side that failed first.
chapters_run_both() {
  local program=$1 server client pids status=0 other
  shift
  # A TCP port of its own, so that two runs at a time do not meet each other's sides.
  if [[ " $* " != *" -p"* && " $* " != *" --port"* ]]; then
    set -- -p $((20000 + RANDOM)) "$@"
  fi
  chapters_check_words "$@"
  pids=$(mktemp -d)
  trap 'chapters_end_both "$pids"; exit 130' INT
  trap 'chapters_end_both "$pids"; exit 143' TERM
  trap 'chapters_end_both "$pids"; exit 129' HUP
  chapters_side server "$pids" "$program" "$@" &
  server=$!
  chapters_side client "$pids" "$program" "$@" "$(place_address server)" &
  client=$!
  wait -n "$server" "$client" || status=$?
  if [[ $status -ne 0 ]]; then
    # The other side would wait for it until its deadline. It gets a moment to say what it saw.
    for _ in {1..30}; do
      kill -0 "$server" 2>/dev/null || kill -0 "$client" 2>/dev/null || break
      sleep 0.1
    done
    for other in server client; do
      if kill -0 "${!other}" 2>/dev/null; then kill "$(<"$pids/$other")" 2>/dev/null || true; fi
    done
  fi
  wait "$server" || status=$((status == 0 ? $? : status))
  wait "$client" || status=$((status == 0 ? $? : status))
  trap - INT TERM HUP
  rm -rf "$pids"
  return "$status"
}

# chapters_check_words ARGS: the server's address is added here; a word that belongs to no option would be a second one.
chapters_check_words() {
  local word before=
  for word in "$@"; do
    [[ $word == -* || $before == -* ]] || usage_error "unexpected argument '$word': both sides get the same options"
    before=$word
  done
}

# chapters_end_both PIDS: ends both sides, and waits until they have said their last words.
chapters_end_both() {
  local file
  for file in "$1"/*; do kill "$(<"$file")" 2>/dev/null || true; done
  wait
  rm -rf "$1"
}

# chapters_side HOST PIDS CMD...: runs CMD on the host, its lines marked. PIDS/HOST gets the process that is to be ended to
# end CMD.
chapters_side() {
  local host=$1 pids=$2
  shift 2
  set -o pipefail
  { printf '%s\n' "$BASHPID" >"$pids/$host" && place_exec "$host" "$@"; } 2>&1 | sed -u "s/^/$host: /"
}

# chapters_pingpong [ARGS]: the main job.
chapters_pingpong() {
  chapters_run 11 "$@"
  printf 'measured on: %s\n' "$(place_describe)"
}
