# shellcheck shell=bash
# Which files belong to the repository. Sourced with LAB_ROOT set.

# files [PATTERN...]: those whose path matches one of the patterns (git pathspecs such as '*.md'), one a line, relative to
# LAB_ROOT. New files count before they are added; what .gitignore names does not.
files() {
  local pattern match=()
  cd "$LAB_ROOT" || exit 1
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
      if [[ -e $file ]]; then printf '%s\n' "$file"; fi
    done | sort -u
  else # a checkout without git, for instance from an archive
    for pattern in "$@"; do match+=(-o -path "./$pattern"); done
    find . \( -path ./build -o -path ./.lab -o -name .git \) -prune -o -type f \( "${match[@]:1}" \) -print | sed 's,^\./,,' | sort
  fi
}

# need COMMAND: skips the test where the tool is missing.
need() {
  if command -v "$1" >/dev/null; then return; fi
  printf '%s is not installed (./lab test installs it)\n' "$1"
  exit 77
}
