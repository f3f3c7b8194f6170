# shellcheck shell=bash
# The whole test suite: everything that it needs, both builds, and what came of it.

# What only tests use. clang: the fuzzers. gdb and the stock tools: they run under the checker. jq and
# jsonschema: what is written as data. inotify-tools: ./lab watch, which goes without as well. The rest: lint.
packages_test=(clang clang-format clang-tidy shellcheck git jq python3-jsonschema procps gdb rdmacm-utils perftest inotify-tools)

# tests_run [--full] [CTEST ARGS]: the arguments go to ctest, for instance -L unit or -R chapter.01. Hostile
# programs are handed in for a quarter of the labs each, which is enough every day; --full: for all of them, and the fuzzer
# has more time.
tests_run() {
  if [[ ${1-} == --full ]]; then
    export LAB_FULL=1
    shift
  fi
  [[ ${1--} == -* ]] || usage_error "test takes the options of ctest, for instance: ./lab test -L unit"
  # The suite is about the programs, not about this machine's device; --on says otherwise.
  export LAB_ON=${LAB_ON:-testbed}
  # Whoever asks for the suite wants it run: a test that cannot is a failure.
  export LAB_REQUIRE_DEVICE=1
  cd "$LAB_ROOT" || exit 1

  local packages
  mapfile -t packages < <(place_packages; tests_clang_runtime; tests_browser)
  packages_need "${packages_build[@]}" "${packages_docs[@]}" "${packages_test[@]}" "${packages[@]}"
  tests_build "$#"

  local preset status=0 ran=0 passed=0 failed=0 skipped=0
  for preset in default sanitize; do
    say "testing ($preset)"
    tests_run_one "$preset" "$@" || status=1
  done
  if [[ $ran -eq 0 ]]; then
    [[ $status -eq 0 ]] || fail "no test ran: ctest failed, see above"
    fail "no test matches: $*"
  fi
  printf 'tested on: %s\n' "$(place_describe)"
  printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
  [[ $status -eq 0 && $failed -eq 0 && $skipped -eq 0 ]]
}

# tests_clang_runtime: the package with clang's sanitizers and libFuzzer. Debian 12 and later have one without a number in its
# name, Ubuntu only numbered ones, and older releases have it in what clang depends on.
tests_clang_runtime() {
  local number
  if [[ -n $(apt-cache show libclang-rt-dev 2>/dev/null) ]]; then
    printf 'libclang-rt-dev\n'
    return
  fi
  number=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p')
  if [[ -z $number ]]; then
    printf 'libclang-rt-dev\n' # apt knows nothing yet; packages_need will update it
  elif [[ -n $(apt-cache show "libclang-rt-$number-dev" 2>/dev/null) ]]; then
    printf 'libclang-rt-%s-dev\n' "$number"
  fi
}

# tests_browser: the package with the browser that opens pages. Ubuntu has it as a snap only, which is for its user to install.
tests_browser() {
  if [[ -n $(apt-cache show chromium 2>/dev/null) || -z $(apt-cache show bash 2>/dev/null) ]]; then
    printf 'chromium\n' # or apt knows nothing yet; packages_need will update it
  fi
}

# tests_build ARGUMENT-COUNT: both builds. When the whole suite is going to run the hosts boot beside them; when a part was
# asked for it may not need them, and CTest starts them if it does.
tests_build() {
  local hosts=
  if [[ $1 -eq 0 ]]; then
    place_up server client &
    hosts=$!
  fi
  local preset status=0
  for preset in default sanitize; do
    # In a subshell, so that a failed build does not leave the hosts half-started behind it.
    if [[ $status -eq 0 ]]; then (build "$preset" && tests_scale "$preset") || status=1; fi
  done
  if [[ -n $hosts ]]; then wait "$hosts" || status=1; fi
  [[ $status -eq 0 ]] || exit 1
}

# tests_scale PRESET: CTest's time limits are written when CMake configures; another LAB_TIME_SCALE needs another run of it.
tests_scale() {
  local folder
  folder=$(build_folder "$1")
  if [[ -n ${LAB_TIME_SCALE-} ]] && ! grep -qx "LAB_TIME_SCALE:STRING=$LAB_TIME_SCALE" "$folder/CMakeCache.txt"; then
    with_lock build cmake -DLAB_TIME_SCALE="$LAB_TIME_SCALE" "$folder" >"$LAB_STATE/build.log" 2>&1 ||
      build_failed "$LAB_STATE/build.log"
  fi
}

# tests_run_one PRESET [CTEST ARGS]: runs ctest, and adds to ran, passed, failed and skipped of the caller.
tests_run_one() {
  local preset=$1 report status=0 counts
  shift
  report=$(build_folder "$preset")/tests.xml
  rm -f "$report"
  # A label that only the other build has is no failure here.
  ctest --preset "$preset" --no-tests=ignore --output-junit "$report" "$@" || status=$?
  [[ -e $report ]] || return "$status"
  read -ra counts < <(tests_count "$report")
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  ran=$((ran + counts[0] + counts[1] + counts[2]))
  return "$status"
}

# tests_count REPORT: prints how many passed, failed and were skipped. CTest writes one element a line. A test that did not
# run has "skipped" below it, with the reason: exit status 77 is a skip, all others (a fixture that failed) are failures.
tests_count() {
  awk '
    /<testcase /                  { count[/status="run"/ ? "passed" : "failed"]++ }
    /<skipped message="SKIP_RETURN_CODE=/ { count["failed"]--; count["skipped"]++ }
    END { print count["passed"] + 0, count["failed"] + 0, count["skipped"] + 0 }' "$1"
}
