#!/usr/bin/env bash
# Every C++ file is formatted as .clang-format says. To format one: clang-format -i FILE
set -euo pipefail
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
need clang-format

cd "$LAB_ROOT"
mapfile -t sources < <(files '*.cpp' '*.hpp')
clang-format --version
printf '%s files\n' "${#sources[@]}"
clang-format --dry-run -Werror "${sources[@]}"
