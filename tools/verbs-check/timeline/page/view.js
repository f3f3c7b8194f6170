// Moving through the time: wheel, pointer, fingers, keys, buttons.

// What the reader has chosen or points at: {item, count}.
let chosen = null;

// placeOf(item): where it is drawn, as {x, y, x2, y2}.
function placeOf(item) {
  if ('wrId' in item) {
    const x = item.isPosted ? xOf(item.from) : xOf(item.to);
    const isLine = item.isPosted && ['completed', 'failed', 'retired'].includes(item.end);
    return {x, y: laneTop(item.row), x2: isLine ? xOf(item.to) : x, y2: isLine ? laneBottom(item.row) : laneTop(item.row) + 10};
  }
  const y = item.id ? item.row.bar - 8 : item.row.marks;
  return {x: xOf(item.time), y, x2: xOf(item.time), y2: y};
}

// showMark(): what is chosen is marked; with a request the one at the other side too.
function showMark() {
  const layer = document.getElementById('mark');
  layer.replaceChildren();
  if (!chosen || !chosen.item.row || !('time' in chosen.item || 'wrId' in chosen.item)) {
    return;
  }
  // The requests of a post, the request itself, and what it has to do with.
  let items = [chosen.item];
  if (chosen.item.verb) {
    const index = story.calls.indexOf(chosen.item);
    items = items.concat(story.requests.filter((request) => request.post === index || (request.completion === index && request.end !== 'retired')));
  }
  items = [...new Set(items.concat(items.map((item) => story.partners.get(item)).filter((item) => item)))];
  for (const item of items.slice(0, 100)) {
    const {x, y, x2, y2} = placeOf(item);
    if (Math.max(x, x2) < view.names || Math.min(x, x2) > view.width) {
      continue;
    }
    if (x === x2 && y === y2) {
      element(layer, 'circle', {cx: round(x), cy: y, r: 9, class: 'chosen'});
    } else {
      element(layer, 'line', {x1: cut(round(x)), y1: y, x2: cut(round(x2)), y2, class: 'chosen'});
    }
  }
}

function choose(item, count) {
  chosen = item ? {item, count} : null;
  showDetails(item, count);
  showMark();
}

let isDrawing = false;
function redraw() {
  if (!isDrawing) {
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      draw();
    });
  }
}

function show(from, to) {
  // No closer than a microsecond, no farther than all and a margin.
  const margin = story.end * 0.03;
  const span = Math.min(Math.max(to - from, 1000), story.end + 2 * margin);
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - span / 2, -margin), story.end + margin - span);
  view.to = view.from + span;
  redraw();
}

const showAll = () => show(-story.end, 2 * story.end);
const zoom = (factor, at = (view.from + view.to) / 2) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const move = (part) => show(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);

// scrollToRow(row): between the axis and the details it can be seen.
function scrollToRow(row) {
  const y = chart.getBoundingClientRect().top + row.bar;
  const bottom = window.innerHeight - details.offsetHeight;
  if (y < 50 || y > bottom - 30) {
    window.scrollBy(0, y - bottom / 2);
  }
}

// step(direction, isWanted): to the next event of the kind, from the chosen one or from the beginning of the view.
function step(direction, isWanted = () => true) {
  const list = story.events;
  let at = chosen ? list.indexOf(chosen.item) : -1;
  if (at < 0) {
    at = list.findIndex((event) => event.time >= view.from);
    at = (at < 0 ? list.length : at) - (direction > 0 ? 1 : 0);
  }
  for (at += direction; at >= 0 && at < list.length; at += direction) {
    if (isWanted(list[at])) {
      const {time} = list[at];
      const span = view.to - view.from;
      if (time < view.from + span * 0.02 || time > view.to - span * 0.02) {
        show(time - span / 2, time + span / 2);
      }
      choose(list[at]);
      scrollToRow(list[at].row);
      return;
    }
  }
  html(details, 'p', direction > 0 ? 'There is none after this.' : 'There is none before this.');
}

const actions = {
  in: () => zoom(0.6), out: () => zoom(1 / 0.6), whole: showAll, left: () => move(-0.25), right: () => move(0.25),
  next: () => step(1), previous: () => step(-1), problem: () => step(1, (event) => event.isProblem),
};
const keys = {
  '+': 'in', '=': 'in', '-': 'out', 0: 'whole', ArrowLeft: 'left', ArrowRight: 'right', n: 'next', p: 'previous', f: 'problem',
};

// nearest(x, y): what is drawn next to the point.
function nearest(x, y) {
  let best = null;
  for (const hit of hits) {
    const [dx, dy] = [hit.x2 - hit.x, hit.y2 - hit.y];
    const length = dx * dx + dy * dy;
    const part = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - hit.x) * dx + (y - hit.y) * dy) / length));
    const distance = Math.hypot(hit.x + part * dx - x, hit.y + part * dy - y);
    // What is small goes before what it lies on.
    if (distance <= hit.far && (!best || hit.weight * 100 + distance < best.score)) {
      best = {hit, score: hit.weight * 100 + distance};
    }
  }
  if (best) {
    return best.hit;
  }
  const time = timeOf(x);
  const gap = story.gaps.find((each) => time >= each.from && time <= each.to);
  return gap ? {item: gap} : null;
}

function pointOf(event) {
  const box = chart.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const pointers = new Map();
let dragged = null;

chart.addEventListener('pointerdown', (event) => {
  const [x, y] = pointOf(event);
  pointers.set(event.pointerId, x);
  if (x > view.names) {
    dragged = {from: view.from, to: view.to, x, y, isMoved: false, spread: spreadOf()};
  }
});
const spreadOf = () => Math.max(20, Math.max(...pointers.values()) - Math.min(...pointers.values()));
chart.addEventListener('pointermove', (event) => {
  const [x, y] = pointOf(event);
  if (!dragged || !pointers.has(event.pointerId)) {
    const hit = x > view.names ? nearest(x, y) : null;
    if (hit) {
      choose(hit.item, hit.count);
    }
    return;
  }
  if (!dragged.isMoved && Math.abs(x - dragged.x) < 4 && pointers.size < 2) {
    return;
  }
  if (!dragged.isMoved) {
    dragged.isMoved = true;
    chart.setPointerCapture(event.pointerId);
  }
  pointers.set(event.pointerId, x);
  if (pointers.size === 1) {
    const per = (dragged.to - dragged.from) / (view.width - view.names);
    show(dragged.from - (x - dragged.x) * per, dragged.to - (x - dragged.x) * per);
  } else {
    const factor = dragged.spread / spreadOf();
    const at = dragged.from + (dragged.x - view.names) / (view.width - view.names) * (dragged.to - dragged.from);
    show(at - (at - dragged.from) * factor, at + (dragged.to - at) * factor);
  }
});
for (const name of ['pointerup', 'pointercancel', 'pointerleave']) {
  chart.addEventListener(name, (event) => {
    const [x, y] = pointOf(event);
    if (name === 'pointerup' && dragged && !dragged.isMoved) {
      const hit = nearest(x, y);
      choose(hit && hit.item, hit && hit.count);
    }
    if (name !== 'pointerleave' || !chart.hasPointerCapture(event.pointerId)) {
      pointers.delete(event.pointerId);
      dragged = null;
    }
  });
}
chart.addEventListener('wheel', (event) => {
  const [x] = pointOf(event);
  if (x < view.names) {
    return; // the page scrolls
  }
  event.preventDefault();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
    move((event.deltaX || event.deltaY) / (view.width - view.names));
  } else {
    zoom(1.0015 ** Math.max(-400, Math.min(400, event.deltaY * (event.deltaMode ? 20 : 1))), timeOf(x));
  }
}, {passive: false});
chart.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  if (event.key === 'Escape') {
    choose(null);
  } else if (keys[event.key]) {
    event.preventDefault();
    actions[keys[event.key]]();
  }
});
for (const button of document.querySelectorAll('#tools button')) {
  button.addEventListener('click', () => actions[button.dataset.do]());
}
document.getElementById('show-messages').addEventListener('change', redraw);
document.getElementById('table').addEventListener('toggle', (event) => {
  if (event.target.open && table.shown === 0) {
    tableFill();
  }
});
document.getElementById('only-problems').addEventListener('change', tableFill);
table.more.addEventListener('click', tableMore);
window.addEventListener('resize', redraw);
if (hasManyRows) {
  window.addEventListener('scroll', redraw);
}
