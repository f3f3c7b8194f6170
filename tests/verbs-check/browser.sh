# shellcheck shell=bash
# A browser without a screen, for tests of pages: one tab of Chromium, driven by its DevTools protocol over two pipes.
# Sourced after tests/lib.sh; whoever sources it calls browser_close at the end.

# browser_find: leaves its command in BROWSER, or fails.
browser_find() {
  for BROWSER in chromium chromium-browser google-chrome; do
    ! command -v "$BROWSER" >/dev/null || return 0
  done
  return 1
}

# browser_open URL: opens it in a tab, in a browser that is started when there is none.
browser_open() {
  if [[ -z ${BROWSER_PID-} ]]; then
    mkfifo "$WORK/browser.in" "$WORK/browser.out"
    exec {BROWSER_IN}<>"$WORK/browser.in" {BROWSER_OUT}<>"$WORK/browser.out"
    # As root it has no sandbox; what it opens here are pages of our own.
    "$BROWSER" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking \
      --disable-component-update --user-data-dir="$WORK/browser" --remote-debugging-pipe about:blank \
      3<"$WORK/browser.in" 4>"$WORK/browser.out" >"$WORK/browser.log" 2>&1 &
    BROWSER_PID=$!
  fi
  BROWSER_SESSION=
  : >"$WORK/browser.events"
  local target
  browser_ask Target.createTarget '{"url":"about:blank"}'
  target=$(jq -r .result.targetId <<<"$ANSWER")
  browser_ask Target.attachToTarget "{\"targetId\":\"$target\",\"flatten\":true}"
  BROWSER_SESSION=$(jq -r .result.sessionId <<<"$ANSWER")
  local domain
  for domain in Page Runtime Log Network; do browser_ask $domain.enable '{}'; done
  browser_go "$1"
}

# browser_go URL: goes there in the tab that is open. Its size stays, and the events of the pages before it.
browser_go() {
  browser_ask Page.navigate "$(jq -n --arg url "$1" '{url: $url}')"
  js 'new Promise((done) => { if (document.readyState === "complete") done(0); else addEventListener("load", () => done(0)); })' >/dev/null
}

browser_close() {
  [[ -n ${BROWSER_PID-} ]] || return 0
  kill "$BROWSER_PID" 2>/dev/null || true
  wait "$BROWSER_PID" 2>/dev/null || true
}

# browser_ask METHOD PARAMETERS: the answer is left in ANSWER; events that come meanwhile in $WORK/browser.events.
BROWSER_ID=0
browser_ask() {
  BROWSER_ID=$((BROWSER_ID + 1))
  printf '{"id":%s,"method":"%s","params":%s%s}\0' "$BROWSER_ID" "$1" "$2" \
    "${BROWSER_SESSION:+,\"sessionId\":\"$BROWSER_SESSION\"}" >&"$BROWSER_IN"
  while IFS= read -r -d '' -t "$(scaled 60)" ANSWER <&"$BROWSER_OUT"; do
    [[ $ANSWER != "{\"id\":$BROWSER_ID,"* ]] || return 0
    printf '%s\n' "$ANSWER" >>"$WORK/browser.events"
  done
  printf 'FAILED: no answer of the browser to %s; it said\n' "$1"
  tail -n 20 "$WORK/browser.log"
  exit 1
}

# js EXPRESSION: prints its value; waits for a promise.
js() {
  browser_ask Runtime.evaluate "$(jq -n --arg text "$1" '{expression: $text, returnByValue: true, awaitPromise: true}')"
  if [[ $(jq -r '.result.exceptionDetails // empty | "wrong"' <<<"$ANSWER") == wrong ]]; then
    printf 'FAILED: in the page: %s\n%s\n' "$1" "$ANSWER"
    exit 1
  fi
  jq -r '.result.result.value' <<<"$ANSWER"
}

# drawn: waits until what was changed is drawn.
drawn() { js 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))' >/dev/null; }

# key KEY: it goes down and up again.
key() {
  local type
  for type in keyDown keyUp; do
    browser_ask Input.dispatchKeyEvent "$(jq -n --arg type $type --arg key "$1" '{type: $type, key: $key}')"
  done
  drawn
}

# mouse TYPE X Y [MORE]: mouseMoved, mousePressed, mouseReleased or mouseWheel; MORE are members of JSON.
mouse() {
  browser_ask Input.dispatchMouseEvent "{\"type\":\"$1\",\"x\":$2,\"y\":$3${4:+,$4}}"
  drawn
}

# size WIDTH HEIGHT [dark]
size() {
  browser_ask Emulation.setDeviceMetricsOverride "{\"width\":$1,\"height\":$2,\"deviceScaleFactor\":1,\"mobile\":false}"
  browser_ask Emulation.setEmulatedMedia "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"${3:-light}\"}]}"
  drawn
}

# complaints: what the page has said on the console, exceptions included, a line each.
complaints() {
  jq -r '(select(.method == "Runtime.exceptionThrown") | .params.exceptionDetails.exception.description // "an exception"),
    (select(.method == "Log.entryAdded") | .params.entry.text),
    (select(.method == "Runtime.consoleAPICalled") | .params.args | tostring)' "$WORK/browser.events"
}

# requested: the addresses that were asked for, a line each.
requested() { jq -r 'select(.method == "Network.requestWillBeSent") | .params.request.url' "$WORK/browser.events"; }
