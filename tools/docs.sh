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
  cd "$LAB_ROOT" || exit 1
  mkdir -p build
  rm -rf "$out.new"
  /usr/bin/python3 docs/site/pages.py "$out.new" || exit 1
  rm -rf "$out"
  mv "$out.new" "$out"
  say "English: build/docs/en/index.html, Chinese: build/docs/zh/index.html; both: build/docs/index.html"
}
