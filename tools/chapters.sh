# shellcheck shell=bash
# Building and running chapters.

# chapters_folder NN: the name of the folder of chapter NN, for instance 01-device-list.
chapters_folder() {
  local number=${1-} folder
  [[ $number =~ ^[0-9]{1,2}$ ]] || usage_error "run wants the number of a chapter, for instance: ./lab run 01"
  for folder in "$LAB_ROOT"/chapters/"$(printf '%02d' "$((10#$number))")"-*/; do
    if [[ -d $folder ]]; then
      basename "$folder"
      return
    fi
  done
  usage_error "there is no chapter $number; see ./lab list"
}

chapters_list() {
  local readme
  for readme in "$LAB_ROOT"/chapters/*/README.md; do
    # The first line of a README is its title: "# 01 Device list: ...".
    printf '%s\n' "$(sed -n '1s/^# //p' "$readme")"
  done
}

# chapters_prepare NAME HOST...: packages, build and hosts, side by side where they can be.
chapters_prepare() {
  local name=$1 packages
  shift
  mapfile -t packages < <(place_packages)
  packages_need "${packages_build[@]}" "${packages[@]}"
  place_up "$@" &
  local hosts=$!
  build default "$name" || { wait "$hosts"; exit 1; }
  wait "$hosts"
}

# A chapter has two sides when its program takes the server's address.
chapters_has_two_sides() { grep -q 'Opt::server' "$LAB_ROOT/chapters/$1/main.cpp"; }

chapters_run() {
  local name program
  name=$(chapters_folder "$@")
  shift
  program=$LAB_ROOT/build/chapters/$name
  if chapters_has_two_sides "$name"; then
    chapters_prepare "$name" server client
    chapters_run_both "$program" "$@"
  else
    chapters_prepare "$name" server
    place_exec server "$program" "$@"
  fi
}

# chapters_run_both PROGRAM [ARGS]: the server's and the client's side, each line marked with its host.
# Fails when either side does.
chapters_run_both() {
  local server client status=0
  ( set -o pipefail; place_exec server "$@" 2>&1 | sed -u 's/^/server: /' ) &
  server=$!
  ( set -o pipefail; place_exec client "$@" "$(place_address server)" 2>&1 | sed -u 's/^/client: /' ) &
  client=$!
  wait "$server" || status=1
  wait "$client" || status=1
  return "$status"
}

# chapters_pingpong [ARGS]: the main job.
chapters_pingpong() {
  chapters_run 11 "$@"
  printf 'measured on: %s\n' "$(place_describe)"
}
