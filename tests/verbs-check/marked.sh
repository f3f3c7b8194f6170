# shellcheck shell=bash
# For tests of programs whose marked lines say what the checker finds there. Sourced after tests/lib.sh.
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
programs=$LAB_ROOT/build/tests/verbs-check
here=$LAB_ROOT/tests/verbs-check
failed=0
fault() {
  printf '%s\n' "$@"
  failed=1
}

# names FOLDER: the programs of a folder.
names() { (cd "$here/$1" && printf '%s\n' *.cpp | sed 's/\.cpp$//'); }

# told FILE WHAT: what the head of a program says: "// run: OPTIONS", "// says: TEXT".
told() { sed -n "s,^// $2: ,,p" "$1"; }

# marked_runs HOST FOLDER PREFIX NAME...: those programs, with their options, in one go; a line "=== NAME" ends the output of
# each. How they end is of no matter: some crash, as they do without the checker.
marked_runs() {
  local host=$1 folder=$2 prefix=$3 name list=()
  shift 3
  for name; do list+=("$name|$(told "$here/$folder/$name.cpp" run)"); done
  # shellcheck disable=SC2016 # expanded on the host
  start "$host" "$host" "$check" -- bash -c '
    check=$1 programs=$2
    shift 2
    for run; do
      IFS="|" read -r name options <<<"$run"
      # Under the checker that is there already, or with options under one of its own.
      if [[ -z $options ]]; then "$programs-$name"; else LD_PRELOAD= "$check" $options -- "$programs-$name"; fi 2>&1
      printf "\n=== %s\n" "$name"
    done' bash "$check" "$programs/$prefix" "${list[@]}"
}

# marked FOLDER PREFIX: each program of the folder, PREFIX-NAME when it is built, gives the findings at its marked lines and no
# others, and they say what the program claims. Half of them run on each host.
marked() {
  local folder=$1 prefix=$2 name host half source said marks found texts missing list
  mapfile -t list < <(names "$folder")
  half=$((${#list[@]} / 2))
  marked_runs server "$folder" "$prefix" "${list[@]:0:half}"
  marked_runs client "$folder" "$prefix" "${list[@]:half}"
  for host in server client; do
    finish $host
    expect_status 0
    awk -v work="$WORK/" '/^=== / { printf "%s", text >(work $2 ".said"); text = ""; next } { text = text $0 "\n" }' "$WORK/out"
  done
  for name in "${list[@]}"; do
    source=$here/$folder/$name.cpp said=$WORK/$name.said
    [[ -e $said ]] || wrong "a run of $prefix-$name"
    marks=$(sed -nE "/\/\/ here: [a-z-]+\$/{=;s,.*// here: ,,p}" "$source" |
      while read -r line && read -r mark; do printf '%s main, %s.cpp:%s\n' "$mark" "$name" "$line"; done)
    found=$(sed -n 's/^verbs-check: \[\([^]]*\)\].*/\1/p' "$said" | paste -d ' ' - <(sed -n 's/^verbs-check:   where:   //p' "$said"))
    texts=$(told "$source" says)
    [[ -n $marks && -n $texts ]] || fault "$folder/$name.cpp has no '// here: FINDING' or no '// says: TEXT'"
    missing=$(while read -r text; do grep '^verbs-check:' "$said" | grep -qF -- "$text" || printf '%s\n' "$text"; done <<<"$texts")
    if [[ $found != "$marks" || -n $missing ]]; then
      fault "$prefix-$name: wanted" "$marks" "${missing:+that says: $missing}" "and it printed"
      sed 's/^/  /' "$said"
    fi
  done
}
