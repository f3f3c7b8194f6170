#!/usr/bin/env bash
# Every ```c block of the prose declares functions as the installed headers do: declared twice, a function must have the
# same type both times.
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"

cd "$LAB_ROOT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/headers.h" <<'HEADERS'
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>
HEADERS

# The headers wrap some verbs into macros of the same name, which would change the declaration. Behind the macro is a function
# with the signature of the man page, but for ibv_query_port, where it has another name.
{
  cat "$work/headers.h"
  gcc -x c -std=gnu11 -dM -E "$work/headers.h" | sed -n 's/^#define \(\(ibv\|rdma\)_[a-z0-9_]*\)(.*/#undef \1/p' | sort
  printf '#define ibv_query_port ___ibv_query_port\n'
} >"$work/start.h"

status=0
check() {
  local page=$1 line=$2 block=$3
  {
    cat "$work/start.h"
    printf '#line %s "%s"\n' "$line" "$page"
    # Without this a misspelled name would pass as a new function.
    sed 's,/\*.*\*/,,; s,//.*,,' "$block" | tr '\n' ' ' | grep -oE '[a-z_][a-z0-9_]* *\([^;]*;' |
      sed -E 's/^([a-z0-9_]*).*/extern __typeof__(\1) *known_\1;/' || true
    printf '#line %s "%s"\n' $((line + 1)) "$page"
    cat "$block"
  } >"$work/block.c"
  gcc -x c -std=gnu11 -fsyntax-only -Wall -Werror "$work/block.c" || status=1
}

count=0
while IFS= read -r page; do
  rm -f "$work"/block-*
  awk -v to="$work/block-" '/^```/ { if (file) { close(file); file = "" } else if ($0 == "```c") { file = to FNR; printf "" >file }; next }
    file { print >file }' "$page"
  for block in "$work"/block-*; do
    [[ -e $block ]] || continue
    check "$page" "${block##*-}" "$block"
    count=$((count + 1))
  done
done < <(files '*.md')
printf '%s blocks\n' "$count"
exit $status
