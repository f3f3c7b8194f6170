# shellcheck shell=bash
# Running any verbs program under the checker, on a host; drawing the traces of such runs.

trace_help() {
  cat <<'TEXT'
usage: ./lab trace [--host server|client] [OPTIONS] -- CMD [ARGUMENTS]

Runs CMD on a host (server unless named) under verbs-check. CMD is any verbs program, for instance ibv_rc_pingpong or
build/chapters/09-send-and-receive, which has to be built already. The OPTIONS are those of verbs-check:

TEXT
  "$LAB_ROOT/tools/verbs-check/verbs-check" --help | sed -n '/^  --trace/,$p'
}

# trace_run [--host HOST] [OPTIONS] -- CMD...
trace_run() {
  local host=server options=()
  while [[ ${1-} == -* ]]; do
    case $1 in
      --host)
        [[ $# -ge 2 ]] || usage_error "--host wants server or client"
        host=$2
        shift 2
        ;;
      --host=*)
        host=${1#--host=}
        shift
        ;;
      --trace | --trace-fd | --fail | --fail-completion | --patience | --exit-code)
        # Their values are verbs-check's to judge.
        options+=("${@:1:2}")
        shift $(($# >= 2 ? 2 : 1))
        ;;
      --help | -h)
        trace_help
        return
        ;;
      --)
        shift
        break
        ;;
      *)
        options+=("$1")
        shift
        ;;
    esac
  done
  place_check_hosts "$host"
  [[ $# -ge 1 ]] || usage_error "trace wants a command, for instance: ./lab trace -- ibv_devinfo"
  chapters_prepare verbs-check "$host"
  place_exec "$host" "$LAB_ROOT/build/tools/verbs-check/verbs-check" ${options[@]+"${options[@]}"} -- "$@"
}

# timeline_run TRACE [TRACE] -o PAGE: on this machine, with no host.
timeline_run() {
  packages_need "${packages_build[@]}"
  build default verbs-check
  exec "$LAB_ROOT/build/tools/verbs-check/verbs-check" timeline "$@"
}
