#!/usr/bin/env bash
# The timeline: from the traces of two hosts to a page in a browser, where everything that the traces have is drawn.
. "${LAB_ROOT:?}/tests/lib.sh"
# shellcheck source=tests/verbs-check/browser.sh
. "$LAB_ROOT/tests/verbs-check/browser.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }
browser_find || { printf 'there is no Chromium (./lab test installs it where it is a package)\n'; exit 77; }
require_device

# What is refused. refused STATUS REGEX ARGUMENTS...
refused() {
  run "$check" timeline "${@:3}"
  expect_status "$1"
  expect_err "^verbs-check timeline: $2"
}
good='{"time_ns":1,"pid":1,"thread":1,"verb":"ibv_alloc_pd","object":"PD #1","result":0,"where":"","args":{},"uses":[]}'
printf '%s\n' "$good" >"$WORK/good"
: >"$WORK/empty"
printf 'not a trace\n' >"$WORK/text"
page=$WORK/page.html
refused 2 'where shall the page go\? -o PAGE' "$WORK/good"
refused 2 'it takes one or two traces' -o "$page"
refused 2 'it takes one or two traces' -o "$page" "$WORK/good" "$WORK/good" "$WORK/good"
refused 2 "unrecognized option '--nosuch'" --nosuch
refused 1 "cannot read the trace $WORK/nosuch: ENOENT \(No such file or directory\)$" "$WORK/nosuch" -o "$page"
refused 1 "cannot read the trace $WORK: EISDIR " "$WORK" -o "$page"
refused 1 "$WORK/empty is empty: " "$WORK/empty" -o "$page"
refused 1 "$WORK/text:1: not JSON. Not one line of the file is one of a trace" "$WORK/good" "$WORK/text" -o "$page"
refused 1 "the page $WORK/good would overwrite the trace" "$WORK/good" -o "$WORK/good"
[[ ! -e $page ]] || wrong 'no page after a failure'
refused 1 'cannot write the page /nonexistent/x: ENOENT ' "$WORK/good" -o /nonexistent/x
refused 1 'cannot write the page /dev/full: ENOSPC ' "$WORK/good" -o /dev/full
mkdir "$WORK/small"
printf old >"$WORK/small/page.html"
# With no room for it the page that was there stays.
# shellcheck disable=SC2016 # expanded by that shell
run bash -c 'ulimit -f 8; trap "" XFSZ; exec "$@"' bash "$check" timeline "$WORK/good" -o "$WORK/small/page.html"
expect_status 1
expect_err '^verbs-check timeline: cannot write the page .*page.html: EFBIG '
[[ $(<"$WORK/small/page.html") == old && $(find "$WORK/small" -type f | wc -l) == 1 ]] || wrong 'the old page, and nothing else'
# Lines that are none are skipped: the rest is worth seeing. That of a program that was killed while the disk was full is torn.
printf '%s\n{"a":1}\n\n%s' "$good" '{"time_ns":1,"pi' >"$WORK/garbled"
refused 0 "$WORK/garbled:2: the number time_ns is missing; skipped 3 of 4 lines of $WORK/garbled$" "$WORK/garbled" -o "$page"
run "$check" timeline --help
expect_status 0
expect_out '^usage: verbs-check timeline TRACE'

# Installed elsewhere the command finds its program.
run cmake --install "$LAB_ROOT/build" --prefix "$WORK/installed"
expect_status 0
run "$WORK/installed/bin/verbs-check" timeline "$WORK/good" -o "$page"
expect_status 0
expect_no_err

# A ping-pong of two hosts, and programs with findings: a memory region of another PD, objects in the wrong order.
traces=$(mktemp -d "$LAB_ROOT/build/tests/verbs-check/traces.XXXXXX") # below the checkout, where a host can write
trap 'browser_close; rm -rf "$WORK" "$traces"' EXIT
chapter=$LAB_ROOT/build/chapters/11-rc-ping-pong
start server server "$check" --trace "$traces/server" -- "$chapter" -n 20 -p 18760
start client client "$check" --trace "$traces/client" -- "$chapter" -n 20 -p 18760 server
for side in server client; do
  finish $side
  expect_status 0
done
# shellcheck disable=SC2016 # expanded on the host
start programs server "$check" --trace "$traces/findings" -- bash -c 'for name; do "$name"; done; true' bash \
  "$LAB_ROOT"/build/tests/verbs-check/check-{lkey-other-pd,busy,qp-state-skipped,closed-with-children}
finish programs
expect_status 0

# same WHAT EXPECTED SEEN
same() {
  COMMAND="the page shows $1" STATUS=0
  [[ $2 == "$3" ]] || wrong "$2 (as jq counts in the traces), not $3"
  printf '%s: %s\n' "$1" "$3"
}
# sum NAME [SELECTOR]: of the values of the attribute data-NAME over what is drawn: things at one place are drawn once.
sum() { js "[...document.querySelectorAll('#chart [data-$1]${2-}')].reduce((sum, each) => sum + Number(each.dataset.$1), 0)"; }
number() { js "document.querySelectorAll('#chart $1').length"; }

# compare FILE...: opens the page of these traces, and counts.
compare() {
  local count
  run "$check" timeline "$@" -o "$page"
  expect_status 0
  expect_no_err
  browser_open "file://$page"
  size 1280 900
  # Each process has objects of its own; one that runs another program has a start line for each.
  count=$(cat "$@" | jq -s 'map(select(.uses and .result == 0 and .object != "")) | length')
  same objects "$count" "$(number '[data-object]')"
  count=$(cat "$@" | jq -s '[.[] | select(.result == 0 and (.verb == "ibv_create_qp" or .args.qp_state))] | length')
  same 'states that a call has set' "$count" "$(number '[data-state]:not(.inferred)')"
  count=$(cat "$@" | jq -s '[.[] | select(.verb == "ibv_post_send" or .verb == "ibv_post_recv") | .args.requests[]] | length')
  same requests "$count" "$(sum requests)"
  count=$(cat "$@" | jq -s '[.[].completions // [] | .[] | select(.status == "IBV_WC_SUCCESS")] | length')
  same 'requests joined to a completion' "$count" "$(sum requests '[data-end=completed]')"
  count=$(cat "$@" | jq -s '[.[].completions // [] | .[] | select(.status != "IBV_WC_SUCCESS")] | length')
  same 'requests joined to a completion with an error' "$count" "$(sum requests '[data-end=failed]')"
  count=$(cat "$@" | jq -s '[.[] | select(.event == "finding")] | length')
  same findings "$count" "$(sum findings)"
  count=$(cat "$@" | jq -s '[.[] | select(.verb and .verb != "ibv_poll_cq" and .result != 0)] | length')
  same 'calls that failed' "$count" "$(sum failed)"
  count=$(cat "$@" | jq -s '[.[] | select(.verb and (.verb | startswith("ibv_post_") | not))] | length')
  same 'calls that are no posts' "$count" "$(sum calls)"
  # The table has the same.
  js 'document.getElementById("table").open = true' >/dev/null
  drawn
  js 'while (!table.more.hidden) table.more.click()' >/dev/null
  count=$(cat "$@" | jq -s '[.[] | select(.event != "start")] | length')
  same 'rows of the table' "$count" "$(js 'document.querySelectorAll("#table tbody tr").length')"
}
# quiet: the page has complained of nothing, and asked for nothing but itself.
quiet() {
  COMMAND="the page in the browser" STATUS=0
  complaints >"$WORK/out"
  [[ ! -s $WORK/out ]] || wrong 'nothing on the console'
  requested | sort -u >"$WORK/out"
  [[ $(<"$WORK/out") == "file://$page"$'\n'"data:," || $(<"$WORK/out") == "file://$page" ]] || wrong 'no request but that for the page'
}

compare "$traces/findings"
quiet
same 'states that a completion shows' 1 "$(number '[data-state=ERR].inferred')"
ids=$(jq -r 'select(.event == "finding") | .id' "$traces/findings" | sort -u | tr '\n' ' ')
same 'the ids' "$ids" "$(js '[...new Set([...document.querySelectorAll("#chart [data-id]")].map((each) => each.dataset.id))].sort().join(" ") + " "')"
same 'processes' 4 "$(js 'story.processes.length')"
js 'document.getElementById("only-problems").click()' >/dev/null
drawn
problems=$(jq -s '[.[] | select(.event == "finding" or (.verb != "ibv_poll_cq" and .result > 0) or
  any(.completions // [] | .[]; .status != "IBV_WC_SUCCESS"))] | length' "$traces/findings")
same 'rows of the table that are findings and failures' "$problems" "$(js 'document.querySelectorAll("#table tbody tr").length')"
# With the keyboard from one problem to the next: the first is a finding.
js 'chart.focus()' >/dev/null
key f
first=$(jq -rs 'map(select(.event == "finding"))[0].id' "$traces/findings")
same 'the first problem' "Finding: $first" "$(js 'details.querySelector("h2").textContent')"

compare "$traces/server" "$traces/client"
quiet
# Each message that was received was sent by the other side, and arrives later than it was sent.
received=$(cat "$traces/server" "$traces/client" | jq -s '[.[].completions // [] | .[] | select(.opcode == "IBV_WC_RECV")] | length')
same 'messages between the hosts' "$received" "$(sum messages)"
same 'messages that arrive before their post began' 0 "$(js 'story.messages.filter(([send, receive]) => {
  const post = story.calls[story.requests[send].post];
  const before = story.calls.filter((call) => call.process === post.process && call.time < post.time).pop();
  return story.requests[receive].to < before.time; }).length')"
[[ $(js 'story.clocks') == *"20 messages to it and 20 back"*" exact to "* ]] || wrong 'how the clocks were aligned'
js 'document.body.innerText' >"$WORK/out"
expect_out 'exact to [0-9.]+ (ms|µs)'

# Keys and wheel: they change what is in view, and back.
js 'chart.focus()' >/dev/null
whole=$(js 'view.to - view.from')
key +
same 'less time after zooming in' true "$(js "view.to - view.from < $whole")"
calls=$(sum calls)
same 'fewer calls after zooming in' true "$(js "$calls < story.calls.length")"
key 0
same 'the whole time again' "$whole" "$(js 'view.to - view.from')"
key n
same 'the first event' ibv_get_device_list "$(js 'details.querySelector("h2").textContent')"
key p
same 'what is before the first' 'There is none before this.' "$(js 'details.lastChild.textContent')"
key Escape
[[ $(js 'details.textContent') == 'Point at something'* ]] || wrong 'nothing chosen'
js 'chart.scrollIntoView()' >/dev/null
mouse mouseWheel 800 60 '"deltaX":0,"deltaY":-400'
same 'less time after the wheel' true "$(js "view.to - view.from < $whole")"
from=$(js 'view.from')
mouse mousePressed 800 60 '"button":"left","clickCount":1'
mouse mouseMoved 600 60 '"button":"left","buttons":1'
mouse mouseReleased 600 60 '"button":"left","clickCount":1'
same 'later times after dragging' true "$(js "view.from > $from")"
key 0
# The pointer over a request tells all of it: both places in the source.
js 'var spot = hits.find((hit) => hit.item.isSend && hit.item.end === "completed"); var box = chart.getBoundingClientRect();' >/dev/null
mouse mouseMoved "$(js 'box.left + (spot.x + spot.x2) / 2')" "$(js 'box.top + (spot.y + spot.y2) / 2')"
js 'details.innerText' >"$WORK/out"
expect_out '^Send request, wr_id [0-9]+, on QP #1'
expect_out 'opcode IBV_WR_SEND'
expect_out 'ibv_post_send in .*main\.cpp:[0-9]+'
expect_out 'ibv_poll_cq in .*completion\.cpp:[0-9]+'
expect_out 'received by QP #1 of 11-rc-ping-pong, process [0-9]+ on (server|client)'

# On a narrow screen nothing sticks out, and no two names lie on each other; the dark colours are other ones.
back=$(js 'getComputedStyle(document.body).backgroundColor')
size 390 800 dark
same 'less width than the window' true "$(js 'document.documentElement.scrollWidth <= 390')"
[[ $(js 'getComputedStyle(document.body).backgroundColor') != "$back" ]] || wrong 'another background in the dark'
for width in 390 700 1280; do
  size $width 800
  for zoom in 1 5 300; do
    js "show(story.end * 0.9 - story.end / $zoom / 2, story.end * 0.9 + story.end / $zoom / 2)" >/dev/null
    drawn
    # shellcheck disable=SC2016 # of JavaScript
    same "texts on each other, $width wide, zoomed by $zoom" '' "$(js '(() => {
      const texts = [...document.querySelectorAll("#chart text, #axis text")].filter((each) => !each.hasAttribute("clip-path"))
        .map((each) => ({text: each.textContent, box: each.getBoundingClientRect()}));
      return texts.flatMap((one, i) => texts.filter((other, j) => i < j && one.box.left < other.box.right &&
        other.box.left < one.box.right && one.box.top < other.box.bottom - 1 && other.box.top < one.box.bottom - 1)
        .map((other) => `${one.text} on ${other.text}`)).join(", "); })()')"
  done
done
quiet

# A test that sees no complaint must see one where there is one; and what would leave the page is stopped.
sed 's,</body>,<script>nosuch(); </script><img src="http://192.0.2.9/x.png"></body>,' "$page" >"$WORK/bad.html"
browser_open "file://$WORK/bad.html"
drawn
complaints >"$WORK/out"
COMMAND='a page with a mistake'
expect_out 'nosuch is not defined'
expect_out 'violates the .*Content Security Policy'

# Of a long trace the middle is left out, and the page says so.
awk -v n=60000 'function line(rest) {
    time += 50; printf "{\"time_ns\":%.0f,\"pid\":1,\"thread\":1,\"result\":%s}\n", time, rest }
  BEGIN {
    line("0,\"verb\":\"ibv_create_cq\",\"object\":\"CQ #1\",\"uses\":[]")
    line("0,\"verb\":\"ibv_create_qp\",\"object\":\"QP #1\",\"args\":{\"sq_sig_all\":1},\"uses\":[\"CQ #1\"]")
    for (i = 0; i < n; ++i) {
      line("0,\"verb\":\"ibv_post_send\",\"object\":\"QP #1\",\"args\":{\"requests\":[{\"wr_id\":" i "}]}")
      line("1,\"verb\":\"ibv_poll_cq\",\"object\":\"CQ #1\",\"completions\":[{\"qp\":\"QP #1\",\"wr_id\":" i ",\"status\":\"IBV_WC_" (i == 30000 ? "RETRY_EXC_ERR\"" : "SUCCESS\",\"opcode\":\"IBV_WC_SEND\"") "}]")
    }
  }' >"$WORK/long"
run "$check" timeline "$WORK/long" -o "$page"
expect_status 0
same 'a page smaller than 16 MB' true "$(stat -c %s "$page" | jq '. < 16e6')"
browser_open "file://$page"
size 1280 900
same 'the requests at both ends, and that which failed' 10001 "$(js 'story.requests.length')"
same 'all of those' 10001 "$(sum requests)"
same 'the gap' 1 "$(number '[data-gap]')"
js 'document.body.innerText' >"$WORK/out"
COMMAND='the page of a long trace'
expect_out 'Left out, to keep the page small: 99998 posts, polls and other calls that went well, between .* and '
quiet

# Of very many objects those near the window are drawn, and others when it gets to them.
awk 'BEGIN { for (i = 1; i <= 5000; ++i) printf "{\"time_ns\":%d,\"pid\":1,\"thread\":1,\"result\":0,\"verb\":\"ibv_reg_mr\",\"object\":\"MR #%d\",\"uses\":[]}\n", i, i }' >"$WORK/many"
run "$check" timeline "$WORK/many" -o "$page"
expect_status 0
browser_open "file://$page"
size 1280 900
same 'objects in the page' 5000 "$(js 'story.objects.length')"
same 'a few of them drawn' true "$(js 'document.querySelectorAll("#chart [data-object]").length < 300')"
same 'not the last one' 0 "$(number '[data-object="MR #5000"]')"
js 'chart.scrollIntoView({block: "end"})' >/dev/null
drawn
same 'the last one, after scrolling to it' 1 "$(number '[data-object="MR #5000"]')"
quiet
