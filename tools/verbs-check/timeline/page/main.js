// The words around the chart, and the first drawing.

function writeNotes() {
  const notes = document.getElementById('notes');
  const count = (number, thing, things = `${thing}s`) => `${number} ${number === 1 ? thing : things}`;
  for (const trace of story.traces) {
    html(notes, 'li', `${trace.name}: ${count(trace.lines, 'line')}`);
    if (trace.skipped) {
      html(notes, 'li', `${count(trace.skipped, 'line')} of ${trace.name} skipped: not of a trace.`, {className: 'warning'});
    }
  }
  const failed = story.calls.filter((call) => call.isFailed).length;
  const wrong = story.requests.filter((request) => request.end === 'failed').length;
  html(notes, 'li', `Shown: ${count(story.processes.length, 'process', 'processes')}, ${count(story.objects.length, 'object')}, ` +
    `${count(story.calls.length, 'call')} (${failed} failed), ${count(story.requests.length, 'request')} (${wrong} completed with an error), ` +
    `${count(story.messages.length, 'message')} between QPs, ${count(story.findings.length, 'finding')}.`);
  for (const gap of story.gaps) {
    html(notes, 'li', `Left out, to keep the page small: ${gap.what}, between ${formatTime(gap.from)} and ${formatTime(gap.to)} ` +
      '(hatched). Those before and after are all here.', {className: 'warning'});
  }
  if (story.clocks) {
    html(notes, 'li', story.clocks);
  }
}

function writeLegend() {
  const list = document.getElementById('swatches');
  const add = (text, paint) => {
    const line = html(list, 'li', '');
    paint(element(line, 'svg', {viewBox: '0 0 34 18', 'aria-hidden': 'true'}));
    html(line, 'span', text);
  };
  const path = (d, names) => (svg) => element(svg, 'path', {d, class: names});
  const bar = (names) => (svg) => element(svg, 'rect', {x: 1, y: 2, width: 32, height: 14, class: names});
  add('life of an object', bar('bar'));
  for (const name of ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'SQE', 'ERR']) {
    add(`QP in ${name}`, bar(`state-${name}`));
  }
  add('ERR without a call: a failed completion shows it', bar('state-ERR inferred'));
  add('made or destroyed outside of the trace', (svg) => element(svg, 'line', {x1: 17, x2: 17, y1: 1, y2: 17, class: 'edge unknown'}));
  add('a call', (svg) => element(svg, 'line', {x1: 17, x2: 17, y1: 4, y2: 14, class: 'tick'}));
  add('a call that failed', path(cross(17, 9, 5), 'failed'));
  add('a finding', path('M17 14l-5 -9h10z', 'flag'));
  add('a request, from its post (above) to its completion (below)', path('M4 2L30 16', 'request completed'));
  add('completed with an error', path(`M4 2L28 13${cross(28, 13, 4)}`, 'request failed'));
  add('unsignalled: a later completion shows that it is done', path('M4 2L30 16', 'request retired'));
  add('not completed yet', path('M17 1v9m-2.5 2.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0', 'request open'));
  add('never completed: queue reset or destroyed', path('M17 2v10m-3 0h6', 'request discarded'));
  add('refused: the post failed', path(cross(17, 9, 4), 'request refused'));
  add('a completion whose post the trace does not have', path('M17 16v-10m-3 0h6', 'request completed'));
  add('a message: from its post to the completion of its receive', (svg) => element(svg, 'line', {x1: 3, x2: 30, y1: 3, y2: 14, class: 'message', 'marker-end': 'url(#arrow)'}));
  if (story.gaps.length) {
    add('here something was left out', bar('gap'));
  }
}

writeNotes();
writeLegend();
// #view=FROM-TO in milliseconds and #table are places to link to.
const asked = /view=([\d.]+)-([\d.]+)/.exec(location.hash);
if (asked) {
  show(asked[1] * 1e6, asked[2] * 1e6);
} else {
  showAll();
}
if (location.hash.includes('table')) {
  document.getElementById('table').open = true;
}
document.getElementById('legend').open = window.innerWidth >= 600;
showDetails(null);
draw();
