# shellcheck shell=bash
# The documentation as two sites, English and Chinese. What they are made of is in docs/site/.

packages_docs=(doxygen doxygen-awesome-css python3 python3-markdown-it)

docs_run() {
  [[ $# -eq 0 ]] || usage_error "docs takes no arguments: ./lab docs"
  packages_need "${packages_docs[@]}"
  with_lock docs docs_replace
}

# docs_replace: the old sites stay until the new ones are complete.
docs_replace() {
  local out=$LAB_ROOT/build/docs
  rm -rf "$out.new"
  docs_build "$out.new" || exit 1
  rm -rf "$out"
  mv "$out.new" "$out"
  say "English: build/docs/en/index.html, Chinese: build/docs/zh/index.html; both: build/docs/index.html"
}

# docs_build OUT: both sites, in a folder that is not there yet. Every warning of doxygen is an error, and shown.
docs_build() {
  local out=$1 language
  local stage=$out.stage log=$out.log
  local -A doxygen=([en]=English [zh]=Chinese)
  mkdir -p "$out"
  cd "$LAB_ROOT" || return 1
  rm -rf "$stage"
  /usr/bin/python3 docs/site/pages.py prepare "$stage" || return 1
  for language in en zh; do
    say "building the documentation (${doxygen[$language]})"
    if ! SITE_OUT=$out SITE_STAGE=$stage SITE_ROOT=$LAB_ROOT SITE_LANG=$language SITE_LANGUAGE=${doxygen[$language]} \
      doxygen docs/site/Doxyfile >"$log" 2>&1; then
      cat "$log" >&2
      say "doxygen has warnings (above)"
      return 1
    fi
  done
  /usr/bin/python3 docs/site/pages.py finish "$stage" "$out" || return 1
  rm -rf "$stage" "$log"
}
