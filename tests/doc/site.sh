#!/usr/bin/env bash
# The documentation site: it is built without a warning, has all pages, and all that they have; links, search and the way from
# page to page work; it is readable on a phone and in the dark; what is wrong in a page or in a comment fails the build.
. "${LAB_ROOT:?}/tests/lib.sh"
# shellcheck source=tests/lint/files.sh
. "$LAB_ROOT/tests/lint/files.sh"
# shellcheck source=tests/verbs-check/browser.sh
. "$LAB_ROOT/tests/verbs-check/browser.sh"
need doxygen
need jq
if ! /usr/bin/python3 -c 'import markdown_it' 2>/dev/null || [[ ! -d /usr/share/doxygen-awesome-css ]]; then
  printf 'what ./lab docs needs is not installed (./lab test installs it)\n'
  exit 77
fi

RUN_LIMIT=200
cd "$LAB_ROOT"

# copy TREE: the files of the repository.
copy() {
  mkdir "$1"
  files '*' >"$WORK/files"
  tar -cf - -T "$WORK/files" | tar -xf - -C "$1"
}

# A tree with something wrong in it does not become a site.
# broken NAME REGEX FILE TEXT: TEXT is added to FILE.
broken() {
  local tree=$WORK/$1
  copy "$tree"
  mkdir -p "$tree/$(dirname "$3")"
  printf '%s\n' "$4" >>"$tree/$3"
  run env -C "$tree" /usr/bin/python3 docs/site/pages.py "$WORK/$1.site"
  expect_status 1
  expect_err "$2"
}
broken link '^lab: README.md: nosuch.md is not there$' README.md '[x](nosuch.md)'
broken anchor '^lab: chapters/01-device-list/README.md: .*#nosuch: there is no such heading$' chapters/01-device-list/README.md \
  '[x](../02-open-device/README.md#nosuch)'
broken outside '^lab: docs/glossary.md: \.\./\.\./x is not there$' docs/glossary.md '[x](../../x)'
broken comment 'parameters of member lab::later are not documented' common/units.hpp 'namespace lab {
/// Later.
int later(int what);
}'
broken no-comment 'units.hpp:[0-9]+: .*later.* of namespace lab is not documented' common/units.hpp 'namespace lab { int later(int what); }'
broken title '^lab: docs/untitled.md does not begin with a title$' docs/untitled.md 'No title.'

# The site, with a page more in two languages. What is new is taken in without being named anywhere: a page, its picture, a file
# and a folder that it leads to. What a git host shows as it is stands there as it is.
tree=$WORK/new
copy "$tree"
mkdir -p "$tree/docs/diagrams"
printf '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="20"><text y="15">ring</text></svg>\n' >"$tree/docs/diagrams/ring.svg"
cat >"$tree/docs/zzz-new.md" <<'PAGE'
# New & `odd` @here, 100% #1

A page -- with two hyphens, `a|b`, `--option`, *emphasis*, @param x and \c words, lab::check, 100% and &amp;.

![a ring](diagrams/ring.svg)
[a file](../tools/lib.sh), [a folder](../tools/doctor), [below](#a-2nd-heading-with-code), [again](#a-2nd-heading-with-code-1)

| a | b |
|---|---|
| `x \| y` | [up](../README.md#two-commands) |

- a list

  ```cpp
  int main() { return "/*" "@brief" "\\n"; }  // --
  ```

## A 2nd heading, with `code`

<details>
<summary>Why? <code>&lt;b&gt;</code></summary>

Because: */ and /* here.
</details>

## A 2nd heading, with `code`

```sh
echo "$HOME" @x \endcode </pre>
```
PAGE
cat >"$tree/docs/zzz-new.zh-CN.md" <<'PAGE'
# 新的一页

[English](zzz-new.md)

第一行，
第二行**强调**文字，见[下面](#带-code-的标题)。

![环](diagrams/ring.svg)
[文件](../tools/lib.sh)、[文件夹](../tools/doctor)、[英文的锚](zzz-new.md#a-2nd-heading-with-code)

| a | b |
|---|---|
| `x \| y` | [上](../README.md#two-commands) |

- 列表

  ```cpp
  int main() { return "/*" "@brief" "\\n"; }  // --
  ```

## 带 `code` 的标题

<details>
<summary>为什么？</summary>

因为。
</details>

## 最后

```sh
echo "$HOME" @x \endcode </pre>
```
PAGE
site=$WORK/site
run env -C "$tree" /usr/bin/python3 docs/site/pages.py "$site"
expect_status 0
expect_no_out .
! grep -v '^lab: building the documentation ' "$WORK/err" || wrong 'nothing else on standard error'
run env -C "$tree" /usr/bin/python3 tests/doc/site.py "$site"
expect_status 0
expect_out '^[0-9]+ pages, [0-9]+ files, [0-9]+ links$'
cat "$WORK/out"

# holds FILE TEXT: a line of the site that was built last has it.
holds() {
  COMMAND="look for it in $1"
  grep -qF -- "$2" "$site/$1" || wrong "$2"
}
holds en/docs-zzz-new.html 'New &amp; <code>odd</code> @here, 100% #1</h1>'
holds en/docs-zzz-new.html 'A page -- with two hyphens, <code>a|b</code>, <code>--option</code>, <em>emphasis</em>, @param x and \c words, lab::check, 100% and &amp;.'
holds en/docs-zzz-new.html '<img src="docs-diagrams-ring.svg" alt="a ring"'
holds en/docs-diagrams-ring.svg ring
holds en/docs-zzz-new.html 'href="source-tools-lib_sh.html"'
holds en/source-tools-doctor.html 'href="source-tools-doctor-ports_sh.html"'
holds en/source-tools-lib_sh.html 'usage_error()'
holds en/docs-zzz-new.html 'id="a-2nd-heading-with-code-1"'
holds zh/docs-zzz-new.html '第一行，第二行<strong>强调</strong>文字'
holds zh/docs-zzz-new.html 'href="docs-zzz-new.html#带-code-的标题">英文的锚'
holds zh/index.html '其他</summary>'

browser_find || { printf 'there is no Chromium (./lab test installs it where it is a package)\n'; exit 77; }

# In the browser, without a network. at PAGE
at() {
  if [[ -n ${BROWSER_PID-} ]]; then browser_go "file://$site/$1"; else browser_open "file://$site/$1"; fi
}
# is EXPRESSION VALUE
is() {
  local value
  COMMAND="in the browser: $1"
  value=$(js "$1")
  [[ $value == "$2" ]] || wrong "$2; it is $value"
}
# search TEXT: the addresses that are found, in order.
search() {
  js "(() => { const field = document.getElementById('search'); field.focus(); field.value = '$1';
    field.dispatchEvent(new Event('input')); })()" >/dev/null
  js 'new Promise((done) => { const look = () => { const found = document.getElementById("found");
    if (found.textContent) done([...found.querySelectorAll("a")].map((link) => link.getAttribute("href")).join(" ") || found.textContent);
    else setTimeout(look, 20); }; look(); })'
}
# found TEXT ADDRESS: it is among what is found, and can be gone to.
found() {
  local all
  COMMAND="search for $1"
  all=$(search "$1")
  [[ " $all " == *" $2 "* ]] || wrong "$2; found is: $all"
}
trap 'browser_close; clean_up' EXIT
at en/index.html
size 1280 800
found 'RNR_RETRY_EXC_ERR' docs-verbs-check-wc-rnr-retry-exc-err.html
found 'choose_gid' "$(grep -o 'device_8hpp.html#[a-z0-9]*">[^<]*choose_gid' "$site/en/device_8hpp.html" | sed 's/".*//' | head -n 1)"
found 'teardown order' chapters-06-teardown-order.html
COMMAND='search for nothing'
[[ $(search 'qqqqqq') == 'Nothing found.' ]] || wrong 'Nothing found.'
search 'teardown order' >/dev/null
js 'document.querySelector("#found a[href=\"chapters-06-teardown-order.html\"]").click()' >/dev/null
for _ in {1..100}; do
  [[ $(js 'document.title') != *'Teardown order'* ]] || break
  sleep 0.2
done
is 'document.title.includes("Teardown order")' true
at zh/index.html
found '队列对' chapters-05-queue-pair.html
is 'document.documentElement.lang' zh-CN

# copied SELECTOR: what its button copies.
copied() {
  js "new Promise((done) => { navigator.clipboard.writeText = (text) => { done(JSON.stringify(text)); };
    document.querySelector('$1').parentNode.querySelector('button').click(); })"
}
at en/source-labs-05-queue-pair-lab_cpp.html
COMMAND='copy a file'
diff <(copied .fragment) <(jq -Rs . labs/05-queue-pair/lab.cpp) || wrong 'the file, byte for byte'
at en/index.html
COMMAND='copy a run'
[[ $(copied '.fragment:has(.prompt)') == '"./lab pingpong\n"' ]] || wrong 'the command alone'

# Wide things move in their own frame: the page itself is as wide as the screen. A bar for moving takes up to 20 pixels.
narrow='document.documentElement.scrollWidth <= innerWidth'
size 390 800
for page in index chapters-05-queue-pair docs-verbs-check-cq-overrun docs-verbs-check labs-05-queue-pair docs-labs docs-glossary \
  exchange_8hpp files annotated source-labs-05-queue-pair-lab_cpp; do
  for language in en zh; do
    at "$language/$page.html"
    is "$narrow" true
    is 'getComputedStyle(document.querySelector("nav.site")).display' none
  done
done
js 'document.querySelector("label[for=menu]").click()' >/dev/null
is 'getComputedStyle(document.querySelector("nav.site")).display' block
at en/chapters-05-queue-pair.html
size 1280 800
is 'getComputedStyle(document.body).backgroundColor' 'rgb(255, 255, 255)'
is 'getComputedStyle(document.querySelector("nav.site")).display' block
size 1280 800 dark
is 'getComputedStyle(document.body).backgroundColor' 'rgb(28, 29, 31)'

COMMAND='what any of the pages said on the console, and asked for'
! complaints | grep . || wrong 'nothing'
! requested | grep -v '^file:///\|^about:' || wrong 'files only'
printf 'in the browser: search, narrow, dark\n'
