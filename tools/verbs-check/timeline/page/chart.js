// Drawing: the part of the time that is in view, as SVG. What falls on the same pixel is drawn once, and says how many it is.

const svgNamespace = 'http://www.w3.org/2000/svg';
const chart = document.getElementById('chart');
const axis = document.getElementById('axis');
const view = {from: 0, to: story.end, names: 150, width: 1000};
// What was drawn where, to find what the pointer is at: {x, y, x2, y2, item}.
let hits = [];

function element(parent, name, attributes, text) {
  const made = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  parent.append(made);
  return made;
}

const xOf = (time) => view.names + (time - view.from) / (view.to - view.from) * (view.width - view.names);
const timeOf = (x) => view.from + (x - view.names) / (view.width - view.names) * (view.to - view.from);
const round = (x) => Math.round(x * 10) / 10;
const isInView = (from, to) => to >= view.from && from <= view.to;
// Coordinates far outside are cut off: browsers do not draw those well.
const cut = (x) => Math.min(Math.max(x, view.names - 1e4), view.width + 1e4);

// merged(things, keyOf): Map from key to {first, count}: things that would be drawn at the same place.
function merged(things, keyOf) {
  const result = new Map();
  for (const thing of things) {
    const key = keyOf(thing);
    const known = result.get(key);
    if (known) {
      known.count += 1;
    } else {
      result.set(key, {thing, count: 1});
    }
  }
  return result.values();
}

const cross = (x, y, size) => `M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`;

function drawAxis() {
  axis.replaceChildren();
  const perNs = (view.width - view.names) / (view.to - view.from);
  const widthOf = (step) => 7.5 * Math.max(...[view.from, view.to].map((time) => formatTime(Math.round(time / step) * step, step).length));
  // The first and the last label are moved to be whole: there must be room for that.
  let step = 1;
  for (let i = 0; step * perNs < 1.5 * widthOf(step) + 8; ++i) {
    step = [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3);
  }
  const times = [];
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    times.push(time);
    const x = round(xOf(time));
    element(axis, 'line', {x1: x, x2: x, y1: 19, y2: 26, class: 'grid'});
    const half = widthOf(step) / 2;
    const middle = Math.min(Math.max(x, view.names + half), view.width - half);
    element(axis, 'text', {x: middle, y: 15, 'text-anchor': 'middle', class: 'soft'}, formatTime(time, step));
  }
  return times;
}

function drawGaps(layer) {
  for (const gap of story.gaps) {
    if (isInView(gap.from, gap.to)) {
      const x = cut(xOf(gap.from));
      element(layer, 'rect', {x, y: 0, width: Math.max(2, cut(xOf(gap.to)) - x), height: chartHeight, class: 'gap', 'data-gap': gap.what});
    }
  }
}

function drawBar(group, row) {
  const {object} = row;
  if (!isInView(object.from, object.to)) {
    return;
  }
  const x = cut(xOf(object.from));
  const width = Math.max(1.5, cut(xOf(object.to)) - x);
  element(group, 'rect', {x: round(x), y: row.bar, width: round(width), height: 16, class: 'bar'});
  hits.push({x, x2: x + width, y: row.bar + 8, y2: row.bar + 8, far: 8, weight: 3, item: object});
  for (const state of row.states || []) {
    drawState(group, row, state);
  }
  // An end that the trace does not have is dashed.
  const edge = (at, isKnown) => element(group, 'line', {x1: at, x2: at, y1: row.bar - 1, y2: row.bar + 17, class: isKnown ? 'edge' : 'edge unknown'});
  edge(round(x), object.isMade);
  edge(round(x + width), !object.isAlive);
}

function drawState(group, row, state) {
  if (!isInView(state.from, state.to)) {
    return;
  }
  const x = cut(xOf(state.from));
  const width = Math.max(0.5, cut(xOf(state.to)) - x);
  element(group, 'rect', {x: round(x), y: row.bar, width: round(width), height: 16, 'data-state': state.name,
    class: `state-${state.name}${state.isInferred ? ' inferred' : ''}`});
  hits.push({x, x2: x + width, y: row.bar + 8, y2: row.bar + 8, far: 8, weight: 2, item: state});
  const left = Math.max(x, view.names);
  const room = Math.min(x + width, view.width) - left;
  if (room > state.name.length * 8 + 6) {
    element(group, 'text', {x: round(left + room / 2), y: row.bar + 12, 'text-anchor': 'middle', class: 'state-text'}, state.name);
  }
}

function drawCalls(group, row) {
  const seen = row.calls.filter((call) => isInView(call.time, call.time));
  for (const {thing: call, count} of merged(seen, (each) => `${Math.round(xOf(each.time))} ${each.isFailed}`)) {
    const x = Math.round(xOf(call.time));
    const y = row.marks;
    if (call.isFailed) {
      element(group, 'path', {d: cross(x, y, 5), class: 'failed', 'data-calls': count, 'data-failed': count});
    } else {
      element(group, 'line', {x1: x, x2: x, y1: y - 4, y2: y + 4, class: 'tick', 'data-calls': count});
    }
    hits.push({x, x2: x, y, y2: y, far: 6, weight: call.isFailed ? 0 : 1, item: call, count});
  }
}

function drawFlags(group, row) {
  let free = -Infinity; // up to where the strip is taken
  const seen = row.flags.filter((finding) => isInView(finding.time, finding.time));
  for (const {thing: finding, count} of merged(seen, (each) => `${Math.round(xOf(each.time))} ${each.id}`)) {
    const x = Math.round(xOf(finding.time));
    const y = row.bar - 3;
    element(group, 'path', {d: `M${x} ${y}l-5 -9h10z`, class: 'flag', 'data-findings': count, 'data-id': finding.id});
    hits.push({x, x2: x, y: y - 5, y2: y - 5, far: 8, weight: 0, item: finding, count});
    const length = finding.id.length * 6.3 + 10;
    // To the right of the flag, or to its left where the chart ends.
    const start = x + 8 + length < view.width ? x + 8 : x - 8 - length;
    if (x - 6 >= free && start >= Math.max(free, view.names)) {
      element(group, 'text', {x: start, y: y - 1, class: 'flag-text'}, finding.id);
      free = Math.max(x, start + length);
    } else {
      free = Math.max(free, x + 6);
    }
  }
}

const laneTop = (row) => row.top + 6;
const laneBottom = (row) => row.bottom - 6;

function drawRequests(group, row) {
  for (const y of [laneTop(row), laneBottom(row)]) {
    element(group, 'line', {x1: view.names, x2: view.width, y1: y, y2: y, class: 'lane'});
  }
  const seen = row.requests.filter((request) => isInView(Math.min(request.from, request.to), Math.max(request.from, request.to)));
  const isShort = (request) => ['open', 'discarded', 'refused'].includes(request.end);
  const keyOf = (request) => `${Math.round(xOf(request.from))} ${isShort(request) ? '' : Math.round(xOf(request.to))} ${request.end} ${request.isPosted}`;
  for (const {thing: request, count} of merged(seen, keyOf)) {
    const [x, x2] = [cut(round(xOf(request.from))), cut(round(xOf(request.to)))];
    const [y, y2] = [laneTop(row), laneBottom(row)];
    let path;
    if (request.end === 'refused') {
      path = cross(x, y + 4, 4);
    } else if (isShort(request)) {
      // It has no end to draw a line to: a ring for one that is still out, a foot for one that is no more.
      path = `M${x} ${y}v9${request.end === 'open' ? 'm-2.5 2.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0' : 'm-3 0h6'}`;
    } else if (!request.isPosted) {
      path = `M${x2} ${y2}v-9m-3 0h6`;
    } else {
      path = `M${x} ${y}L${x2} ${y2}${request.end === 'failed' ? cross(x2, y2, 4) : ''}`;
    }
    element(group, 'path', {d: path, class: `request ${request.end}`, 'data-requests': count, 'data-end': request.end});
    const end = isShort(request) ? [x, y + 10] : [x2, y2];
    hits.push({x: request.isPosted ? x : x2, y: request.isPosted ? y : y2 - 9, x2: end[0], y2: end[1], far: 6, weight: 0, item: request, count});
  }
}

function drawMessages(layer) {
  const seen = story.messages.map(([send, receive]) => ({send: story.requests[send], receive: story.requests[receive]}))
    .filter(({send, receive}) => isInView(Math.min(send.from, receive.to), Math.max(send.from, receive.to)));
  const keyOf = ({send, receive}) => `${Math.round(xOf(send.from))} ${Math.round(xOf(receive.to))} ${send.row.top} ${receive.row.top}`;
  for (const {thing: {send, receive}, count} of merged(seen, keyOf)) {
    const [x, x2] = [cut(round(xOf(send.from))), cut(round(xOf(receive.to)))];
    const [y, y2] = [laneTop(send.row), laneBottom(receive.row)];
    element(layer, 'line', {x1: x, x2, y1: y, y2, class: 'message', 'marker-end': 'url(#arrow)', 'data-messages': count});
  }
}

// The names at the left, and the head of each process, lie above all that is drawn.
function drawNames(layer) {
  element(layer, 'rect', {x: 0, y: 0, width: view.names, height: chartHeight, fill: 'var(--back)'});
  for (const row of rows.filter(isNear)) {
    if (row.kind === 'process') {
      element(layer, 'rect', {x: 0, y: row.top, width: view.names, height: row.bottom - row.top, class: 'head'});
      const name = element(layer, 'text', {x: 6, y: row.bar + 12, class: 'head-text', 'clip-path': 'url(#names)'},
        row.process.host || row.process.program || 'process');
      element(name, 'tspan', {class: 'soft', 'font-weight': 400}, ` ${row.process.pid}`);
      continue;
    }
    const x = 8 + row.depth * (view.names > 130 ? 13 : 8);
    if (row.kind === 'lane') {
      element(layer, 'text', {x, y: laneTop(row) + 21, class: 'soft', 'clip-path': 'url(#names)'}, row.isSend ? 'sends' : 'receives');
    } else {
      element(layer, 'text', {x, y: row.bar + 12, 'clip-path': 'url(#names)'}, row.object.name);
    }
  }
  element(layer, 'line', {x1: view.names, x2: view.names, y1: 0, y2: chartHeight, class: 'grid'});
}

function definitions() {
  const defs = element(chart, 'defs', {});
  element(element(defs, 'clipPath', {id: 'names'}), 'rect', {x: 0, y: 0, width: view.names - 4, height: chartHeight});
  const hatch = element(defs, 'pattern', {id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'});
  element(hatch, 'line', {x1: 0, x2: 0, y1: 0, y2: 6, class: 'hatch', 'stroke-width': 3});
  const arrow = element(defs, 'marker', {id: 'arrow', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 6, markerHeight: 6, orient: 'auto'});
  element(arrow, 'path', {d: 'M0 0L6 3L0 6z', class: 'arrow'});
}

// Of very many rows only those near the window are drawn, and others when it comes to them.
const hasManyRows = rows.length > 300;
function isNear(row) {
  const top = chart.getBoundingClientRect().top;
  return !hasManyRows || (top + row.bottom > -window.innerHeight && top + row.top < 2 * window.innerHeight);
}

function draw() {
  view.width = Math.max(280, chart.clientWidth || chart.parentElement.clientWidth);
  view.names = view.width < 600 ? 104 : 150;
  hits = [];
  chart.replaceChildren();
  chart.setAttribute('height', chartHeight);
  definitions();
  for (const time of drawAxis()) {
    const x = round(xOf(time));
    element(chart, 'line', {x1: x, x2: x, y1: 0, y2: chartHeight, class: 'grid', 'stroke-opacity': 0.5});
  }
  drawGaps(chart);
  for (const row of rows.filter(isNear)) {
    const attributes = row.kind === 'object' ? {'data-object': row.object.name, 'data-process': row.object.process} : {};
    const group = element(chart, 'g', attributes);
    if (row.kind === 'process') {
      element(group, 'rect', {x: 0, y: row.top, width: view.width, height: row.bottom - row.top, class: 'head'});
      drawProcessName(group, row);
      drawCalls(group, row);
    } else if (row.kind === 'lane') {
      drawRequests(group, row);
    } else {
      drawBar(group, row);
      drawCalls(group, row);
    }
    drawFlags(group, row);
  }
  if (document.getElementById('show-messages').checked) {
    drawMessages(element(chart, 'g', {}));
  }
  drawNames(element(chart, 'g', {}));
  element(chart, 'g', {id: 'mark'});
  showMark();
}

function drawProcessName(group, row) {
  const {process} = row;
  group.setAttribute('data-process', story.processes.indexOf(process));
  element(group, 'text', {x: view.names + 8, y: row.bar + 12, class: 'soft'},
    `${process.program || 'a program'}${story.traces.length > 1 ? ` (${story.traces[process.trace].name})` : ''}`);
}
