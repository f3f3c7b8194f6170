# shellcheck shell=bash
# Labs: what there is, building and checking what the learner has written, hints, solutions.
#
#   LAB_STATE/labs/NAME.json      the last verdicts
#   LAB_STATE/labs/NAME.log       what each run did
#   LAB_STATE/labs/NAME.state     "CHECKSUM POINTS MAXIMUM": of which lab.cpp that was, and what it got
#   LAB_STATE/labs/NAME.hints     "STEP COUNT" a line: the hints that were given
#   build{,/sanitize}/labs/lab-NN{,.log}    the two builds, and what the compiler said
#
# LAB_VERDICTS names a folder below build/ for all of these instead, so that tests do not touch what a learner has reached.

labs_state=${LAB_VERDICTS:-$LAB_STATE/labs}

# labs_program PRESET NUMBER: where that build of lab.cpp is. Below build/, where submissions on a host can reach it.
labs_program() {
  if [[ -n ${LAB_VERDICTS-} ]]; then
    printf '%s/lab-%s.%s\n' "$LAB_VERDICTS" "$2" "$1"
  else
    printf '%s/labs/lab-%s\n' "$(build_folder "$1")" "$2"
  fi
}

# labs_name COMMAND NN: the name of the folder of lab NN, for instance 03-protection-domain.
labs_name() {
  local command=$1 number=${2-} folder
  number=${number%%-*}
  [[ $number =~ ^[0-9]{1,2}$ ]] ||
    usage_error "$command wants the number of a lab, for instance ./lab $command 03, and not '${2-}'"
  for folder in "$LAB_ROOT"/labs/"$(printf '%02d' "$((10#$number))")"-*/; do
    if [[ -e $folder/lab.cpp ]]; then
      basename "$folder"
      return
    fi
  done
  usage_error "there is no lab $number; see ./lab list"
}

labs_names() {
  local folder
  for folder in "$LAB_ROOT"/labs/*/lab.cpp; do
    folder=${folder%/lab.cpp}
    printf '%s\n' "${folder##*/}"
  done
}

labs_title() { sed -n '1s/^# Lab [0-9]*: //p' "$LAB_ROOT/labs/$1/README.md"; }

# labs_starter NAME: prints lab.cpp as it was handed out: the solution with the steps of the starter in it; without the
# solutions, as git has it.
labs_starter() {
  local solution=$LAB_ROOT/solutions/$1/lab.cpp
  if [[ -e $solution ]]; then
    awk -f "$LAB_ROOT/tools/judge/compose.awk" "$LAB_ROOT/labs/$1/starter.inc" "$solution"
  else
    git -C "$LAB_ROOT" show "HEAD:./labs/$1/lab.cpp" 2>/dev/null
  fi
}

labs_checksum() { cksum <"$LAB_ROOT/labs/$1/lab.cpp"; }

# labs_score NAME: prints the points and the maximum of lab.cpp as it is now, or fails: it was not checked since it changed.
labs_score() {
  local sum size points maximum
  { read -r sum size points maximum <"$labs_state/$1.state"; } 2>/dev/null || return 1
  [[ "$sum $size" == "$(labs_checksum "$1")" ]] || return 1
  printf '%s %s\n' "$points" "$maximum"
}

labs_list() {
  local name points maximum state
  for name in $(labs_names); do
    points=- maximum=-
    if cmp -s <(labs_starter "$name") "$LAB_ROOT/labs/$name/lab.cpp"; then
      state=untouched
    else
      state='in work'
    fi
    if read -r points maximum < <(labs_score "$name") && [[ $points == "$maximum" ]]; then state=passed; fi
    if [[ ${points:--} == - ]]; then points=; else points="$points/$maximum"; fi
    printf '%s  %-9s %7s  %s\n' "${name%%-*}" "$state" "$points" "$(labs_title "$name")"
  done
}

# labs_check [NN...] [--file FILE] [--json FILE] [--gradescope FILE]
labs_check() {
  local numbers=() file='' json='' gradescope='' name names=() status=0
  while [[ $# -gt 0 ]]; do
    case $1 in
      --file | --json | --gradescope)
        [[ $# -ge 2 ]] || usage_error "$1 wants a file"
        case $1 in --file) file=$2 ;; --json) json=$2 ;; *) gradescope=$2 ;; esac
        shift 2
        ;;
      --file=* | --json=* | --gradescope=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      -*) usage_error "check has the options --file FILE, --json FILE and --gradescope FILE, not $1" ;;
      *)
        numbers+=("$1")
        shift
        ;;
    esac
  done
  for name in "${numbers[@]}"; do names+=("$(labs_name check "$name")") || exit; done
  [[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(labs_names)
  if [[ -n $file ]]; then
    [[ ${#numbers[@]} -eq 1 ]] || usage_error "--file wants the one lab that the file is for: ./lab check 03 --file FILE"
    [[ -r $file ]] || usage_error "--file: there is no readable file $file"
    [[ $file == /* ]] || file=$PWD/$file
  fi
  # Whoever waits for the files finds them, whatever happens: until there are verdicts they say that there are none.
  labs_no_verdict "$json" "$gradescope"
  if ! (labs_prepare "${names[@]}"); then
    fail "nothing was judged: see above. A machine that is slow, or busy, wants more patience: LAB_TIME_SCALE=3 ./lab check"
  fi
  for name in "${names[@]}"; do with_lock "lab-$name" labs_check_one "$name" ${file:+"$file"} || status=1; done
  if [[ ${#names[@]} -gt 1 || -n $json || -n $gradescope ]]; then
    "$LAB_ROOT/build/tools/judge/lab-verdicts" "${names[@]/#/$labs_state/}" --suffix "${file:+.other}.json" ${json:+--json "$json"} \
      ${gradescope:+--gradescope "$gradescope"} || status=1
  fi
  return "$status"
}

# labs_no_verdict JSON GRADESCOPE: nothing could be judged, and the files say so.
labs_no_verdict() {
  local why="nothing was judged: the judge could not be built, or its hosts did not start"
  if [[ -n $1 ]]; then printf '{"points": 0, "max_points": 0, "error": "%s", "labs": []}\n' "$why" >"$1"; fi
  if [[ -n $2 ]]; then printf '{"score": 0, "output": "%s", "tests": []}\n' "$why" >"$2"; fi
}

# labs_prepare NAME...: packages, hosts, and what checks; not yet what is to be checked.
labs_prepare() {
  local packages
  mapfile -t packages < <(place_packages)
  packages_need "${packages_build[@]}" "${packages[@]}"
  lib_make_state
  mkdir -p "$labs_state" || exit 1
  # A host that is started here lives on, so it must not hold what leads to a judge.
  (
    if [[ -n ${labs_served-} ]]; then exec {labs_judge_in}>&- {labs_judge_out}<&-; fi
    place_up server client
  ) &
  local hosts=$!
  labs_are_built "$@" || labs_build_judges "$@" || { wait "$hosts"; exit 1; }
  wait "$hosts"
}

# labs_are_built NAME...: what checks these was built, and no source of it has changed since. To ask ninja takes longer.
labs_are_built() {
  local name stamp
  for name in "$@"; do
    stamp=$LAB_STATE/labs/$name.built
    [[ -e $stamp && -x $LAB_ROOT/build/labs/judge-${name%%-*} && -x $LAB_ROOT/build/tools/judge/lab-box &&
      -e $LAB_ROOT/build/sanitize/common/liblab_common.a ]] || return 1
    [[ -z $(find "$LAB_ROOT"/{CMakeLists.txt,CMakePresets.json,cmake,common,tools,labs/CMakeLists.txt,labs/flags.cpp} \
      "$LAB_ROOT/labs/$name/checks.cpp" -newer "$stamp" -print -quit 2>/dev/null) ]] || return 1
  done
}

labs_build_judges() {
  local name targets=(verbs-check lab-box lab-verdicts lab_common)
  mkdir -p "$LAB_STATE/labs" || return 1
  for name in "$@"; do
    targets+=("judge-${name%%-*}")
    : >"$LAB_STATE/labs/$name.built.new" # what changes while it is built is newer
  done
  [[ -x $LAB_ROOT/build/tools/judge/lab-box ]] || say "the first check builds what checks, once; that takes some minutes"
  (build default "${targets[@]}" && build sanitize lab_common) || return 1
  for name in "$@"; do mv "$LAB_STATE/labs/$name.built.new" "$LAB_STATE/labs/$name.built"; done
}

# labs_build FILE NUMBER: both builds of the file, side by side. Fails when one of them does.
labs_build() {
  local sanitized status=0
  labs_compile sanitize "$1" "$(labs_program sanitize "$2")" &
  sanitized=$!
  labs_compile default "$1" "$(labs_program default "$2")" || status=1
  wait "$sanitized" || status=1
  return "$status"
}

# labs_compile PRESET FILE PROGRAM: what the compiler says goes to PROGRAM.log.
labs_compile() {
  local words header=''
  words=$(build_folder "$1")/labs
  rm -f "$3"
  if header=$(labs_header "$1" "$2") && [[ -e $header.gch ]]; then header="-include $header"; else header=''; fi
  # A file can make a compiler read for ever.
  # shellcheck disable=SC2086 # two words, or none; the path of a checkout with a blank in it has no header
  timeout "$(scaled 120)" c++ "@$words/compile.rsp" $header "$2" -o "$3" "@$words/link.rsp" </dev/null >"$3.log" 2>&1 && return
  local status=$?
  [[ $status -ne 124 ]] || printf 'lab.cpp: error: the compiler did not come to an end\n' >>"$3.log"
  return 1
}

# labs_includes FILE: the directives at its beginning that mean the same anywhere.
labs_includes() { awk '/^#include (<[^>]+>|"common\/[^"]+")$/ { print; next } /^ *(\/\/.*)?$/ { next } { exit }' "$1"; }

# labs_header PRESET FILE: the path of a header with these directives alone. Another one for everything that what was compiled of it
# depends on: the words for the compiler, the compiler, and what is included.
labs_header() {
  local words root includes key
  words=$(build_folder "$1")/labs
  [[ $words != *' '* ]] || return 1
  root=$(sed -n 's/^"-I\(.*\)"$/\1/p' "$words/compile.rsp")
  includes=$(labs_includes "$2") && [[ -n $includes ]] || return 1
  key=$({ printf '%s\n' "$includes"; cat "$words/compile.rsp"
    stat -Lc %n:%Y:%s "$(type -P c++)" /usr/include/infiniband/*.h "$root"/common/*.hpp; } 2>/dev/null | cksum)
  printf '%s/headers/%s.hpp\n' "$words" "${key// /-}"
}

# labs_make_headers FILE: compiles the header of each build, for the next times that the file is compiled. Only the last ones are
# kept: they are large.
labs_make_headers() {
  local preset words header lock
  exec {lock}>"$LAB_STATE/headers.lock"
  flock -n "$lock" || return 0 # somebody is at it
  for preset in default sanitize; do
    header=$(labs_header "$preset" "$1") || continue
    [[ ! -e $header.gch ]] || continue
    words=$(build_folder "$preset")/labs
    rm -rf "$words/headers"
    mkdir -p "$words/headers"
    labs_includes "$1" >"$header"
    { nice c++ "@$words/compile.rsp" -x c++-header "$header" -o "$header.new" && mv "$header.new" "$header.gch"; } >/dev/null 2>&1 || true
  done
}

# labs_check_one NAME [FILE]: builds and judges lab.cpp, or FILE in its place, and remembers what lab.cpp got.
labs_check_one() {
  local name=$1 number=${1%%-*} file=$LAB_ROOT/labs/$1/lab.cpp out=$labs_state/$1 program sanitized sum status=0 log='' points maximum
  if [[ $# -eq 1 ]] && cmp -s <(labs_starter "$name") "$file"; then
    say "labs/$name/lab.cpp is still the starter, which is meant to fail: labs/$name/README.md has the task"
  fi
  # What is learnt of another file says nothing about lab.cpp.
  if [[ $# -eq 2 ]]; then file=$2 out+=.other; fi
  say "checking ${file#"$LAB_ROOT"/}"
  sum=$(labs_checksum "$name")
  rm -f "$out".{json,log,state}
  program=$(labs_program default "$number") sanitized=$(labs_program sanitize "$number")
  if ! labs_build "$file" "$number"; then
    log=$program.log
    grep -q 'error: \|undefined reference\|multiple definition' "$log" || log=$sanitized.log
  else
    # The compiler's warnings are shown, not judged.
    grep -A 3 'warning: ' "$program.log" | sed "s,^$LAB_ROOT/,," | LC_ALL=C tr '\000-\010\013-\037\177' '?' >&2 || true
  fi
  if [[ -z $log && $# -eq 1 ]] && labs_is_served "$name"; then
    labs_ask_judge "$program" "$sanitized" "$out" || status=1
  else
    labs_judge "$number" server --program "$program" --sanitized "$sanitized" --submission "${file#"$LAB_ROOT"/}" --json "$out.json" \
      --log "$out.log" ${log:+--build-log "$log"} || status=1
  fi
  if [[ -n $log ]]; then
    say "all that the compiler says is in ${log#"$LAB_ROOT"/}"
  elif ((status)); then
    say "what each run printed, and which verbs it called, is in ${out#"$LAB_ROOT"/}.log"
  fi
  if [[ $# -eq 1 && -e $out.json ]]; then
    points=$(sed -n 's/^  "points": \([0-9]*\).*/\1/p' "$out.json")
    maximum=$(sed -n 's/^  "max_points": \([0-9]*\).*/\1/p' "$out.json")
    printf '%s %s %s\n' "$sum" "$points" "$maximum" >"$out.state"
  fi
  return "$status"
}

# labs_judge NUMBER HOST OPTIONS...: judges what the options name (see tools/judge/main.cpp), with submissions on HOST.
labs_judge() {
  local number=$1 host=$2 other=client own_box peer_box word
  shift 2
  [[ $host == server ]] || other=server
  own_box=("$LAB_ROOT/lab" exec "$host" -- "$LAB_ROOT/build/tools/judge/lab-box")
  peer_box=("$LAB_ROOT/lab" exec "$other" -- "$LAB_ROOT/build/tools/judge/lab-box")
  for word in "${own_box[@]}"; do set -- "$@" --box="$word"; done
  for word in "${peer_box[@]}"; do set -- "$@" --peer-box="$word"; done
  "$LAB_ROOT/build/labs/judge-$number" \
    --library "$LAB_ROOT/build/tools/judge/libverbs-check.so" --world "$LAB_ROOT/build/tools/judge/liblab-world.so" --own-address "$(place_address "$host")" \
    --peer-address "$(place_address "$other")" --time-scale "${LAB_TIME_SCALE:-1}" --place "$(place_describe)" "$@"
}

# labs_serve NAME: from now on a judge of this lab waits for something to judge, on the hosts already. Sets labs_served.
labs_serve() {
  labs_serve_no_more
  labs_judge_of=$(stat -c %i:%Y "$LAB_ROOT/build/labs/judge-${1%%-*}") || return 0
  # shellcheck disable=SC2034 # coproc sets it
  coproc labs_judge_process {
    labs_judge "${1%%-*}" server --serve --submission "labs/$1/lab.cpp" --log "$labs_state/$1.log"
  }
  # Subshells do not get those of the coprocess itself.
  exec {labs_judge_in}>&"${labs_judge_process[1]}" {labs_judge_out}<&"${labs_judge_process[0]}"
  eval "exec ${labs_judge_process[1]}>&- ${labs_judge_process[0]}<&-"
  # shellcheck disable=SC2154 # set by coproc
  labs_judge_pid=$labs_judge_process_PID labs_served=$1
}

# labs_is_served NAME: there is a judge of it that waits. One that was built anew since is not asked, nor one that has ended.
labs_is_served() {
  [[ ${labs_served-} == "$1" && $labs_judge_of == "$(stat -c %i:%Y "$LAB_ROOT/build/labs/judge-${1%%-*}")" ]] &&
    kill -0 "$labs_judge_pid" 2>/dev/null
}

labs_serve_no_more() {
  [[ -n ${labs_served-} ]] || return 0
  labs_served=
  exec {labs_judge_in}>&- {labs_judge_out}<&-
  wait "$labs_judge_pid" 2>/dev/null || true
}

# labs_ask_judge PROGRAM SANITIZED OUT: as labs_judge, with the judge that waits.
labs_ask_judge() {
  local answer
  trap '' PIPE
  if ! printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" 3600000 "$3.json" "$3.text" >&"$labs_judge_in" ||
    ! read -ru "$labs_judge_out" answer; then
    say "the judge has ended; save the file again"
    return 1
  fi
  cat "$3.text"
  rm -f "$3.text"
  [[ $answer == passed ]]
}

# labs_watch [NN]: checks whenever lab.cpp was saved. Without a number, the lab whose file was saved last.
labs_watch() {
  local name='' last='' now file
  [[ $# -le 1 ]] || usage_error "watch wants one number at most"
  if [[ $# -eq 1 ]]; then name=$(labs_name watch "$1") || exit; fi
  say "watching labs/${name:-*}/lab.cpp: save it to have it checked, Ctrl-C ends this"
  while :; do
    file=$(labs_saved_last "$name")
    now="$file $(cksum <"$file" 2>/dev/null)" || now=$last # between two steps of an editor there is no file
    if [[ $now != "$last" ]]; then
      last=$now
      file=${file%/lab.cpp}
      labs_is_served "${file##*/}" || labs_serve_no_more
      # In a subshell, so that what ends a check does not end the watching.
      (labs_check "${file##*/}") || true
      (labs_make_headers "$file/lab.cpp") &
      labs_is_served "${file##*/}" || labs_serve "${file##*/}"
      say "waiting for the next change"
    fi
    labs_wait_for_change
  done
}

labs_saved_last() {
  local file newest=
  for file in "$LAB_ROOT"/labs/${1:-*}/lab.cpp; do
    [[ -n $newest && ! $file -nt $newest ]] || newest=$file
  done
  printf '%s\n' "$newest"
}

# labs_wait_for_change: until something was saved in a lab's folder, or a moment. The kernel's notification needs a package, and does
# not come from network file systems: it saves only looking ten times a second.
labs_wait_for_change() {
  local status=0
  if type -P inotifywait >/dev/null; then
    inotifywait -qq -t 1 -e close_write,moved_to,create "$LAB_ROOT"/labs/*/ 2>/dev/null || status=$?
    [[ $status -ne 0 && $status -ne 2 ]] || return 0 # saved; or the second is over
  fi
  sleep 0.1
}

# labs_step NAME: the step of the first check that has failed the last time, else 1.
labs_step() {
  local step
  step=$(sed -n 's/.*hint: .\/lab hint [0-9]* \([0-9]*\).*/\1/p' "$labs_state/$1.json" 2>/dev/null | head -n 1)
  printf '%s\n' "${step:-1}"
}

# labs_hint NN [STEP]: the next hint of the step; after the last one it begins again.
labs_hint() {
  local name step given=0 total file
  [[ $# -le 2 ]] || usage_error "hint wants a lab and a step: ./lab hint 03 1"
  name=$(labs_name hint "${1-}") || exit
  file=$LAB_ROOT/labs/$name/hints.md
  step=${2:-$(labs_step "$name")}
  total=$(labs_hints "$file" "$step" | grep -c '^[0-9]*\. ') || usage_error "lab ${name%%-*} has no step '$step'"
  mkdir -p "$labs_state" 2>/dev/null || true
  given=$(awk -v step="$step" '$1 == step { given = $2 } END { print given + 0 }' "$labs_state/$name.hints" 2>/dev/null) || given=0
  given=$((given % total + 1))
  printf 'lab %s, step %s, hint %s of %s\n' "${name%%-*}" "$step" "$given" "$total"
  [[ $given -lt $total ]] || say "that is the last one; the next call begins again"
  labs_hints "$file" "$step" | awk -v given="$given" '/^[0-9]+\. / { number = $1 + 0 } number == given { sub(/^([0-9]+\. |   )/, ""); print }'
  printf '%s %s\n' "$step" "$given" >>"$labs_state/$name.hints" 2>/dev/null || true
}

# labs_hints FILE STEP: the lines of that step.
labs_hints() { awk -v title="## Step $2" '/^## / { inside = $0 == title; next } inside && NF' "$1"; }

# labs_reset NN [--yes]: lab.cpp as it was handed out; what it was is kept beside it.
labs_reset() {
  local name file backup number=1 answer=${2-}
  name=$(labs_name reset "${1-}") || exit
  [[ $# -le 2 && ( $# -eq 1 || $2 == --yes ) ]] || usage_error "reset wants a lab, and --yes where there is nobody to ask"
  file=$LAB_ROOT/labs/$name/lab.cpp
  if cmp -s <(labs_starter "$name") "$file"; then
    say "labs/$name/lab.cpp is the starter already"
    return
  fi
  [[ -n $(labs_starter "$name") ]] || fail "neither solutions/$name nor git has the starter of this lab"
  while [[ -e $file.backup-$number ]]; do ((++number)); done
  backup=$file.backup-$number
  if [[ $answer != --yes ]]; then
    [[ -t 0 ]] || usage_error "reset asks before it does anything, and there is no terminal: ./lab reset ${name%%-*} --yes"
    read -rp "Put the starter in the place of labs/$name/lab.cpp? Yours is kept as ${backup##*/}. [y/N] " answer
    [[ $answer == [yY]* ]] || fail "nothing was changed"
  fi
  cp "$file" "$backup" && labs_starter "$name" >"$file.new" && mv "$file.new" "$file"
  say "labs/$name/lab.cpp is the starter again; yours is in labs/$name/${backup##*/}"
}

# labs_solution NN [--show-anyway]
labs_solution() {
  local name points maximum
  name=$(labs_name solution "${1-}") || exit
  [[ $# -le 2 && ( $# -eq 1 || $2 == --show-anyway ) ]] || usage_error "solution wants a lab, and perhaps --show-anyway"
  [[ -e $LAB_ROOT/solutions/$name/lab.cpp ]] || fail "this copy of the repository has no solutions"
  if [[ $# -eq 1 ]] && ! { read -r points maximum < <(labs_score "$name") && [[ $points == "$maximum" ]]; }; then
    fail "the solution is shown once lab.cpp, as it is now, passes (./lab check ${name%%-*}), or with: ./lab solution ${name%%-*} --show-anyway"
  fi
  cat "$LAB_ROOT/solutions/$name/lab.cpp"
}
