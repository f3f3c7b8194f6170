'use strict';
// What is to be seen: the data of the page, and the rows in which it is drawn.

const story = JSON.parse(document.getElementById('data').textContent);
story.end = Math.max(1, ...story.processes.map((process) => process.to));

// Events in the order of time: calls and findings.
story.calls.forEach((call) => { call.isProblem = call.isFailed; });
story.findings.forEach((finding) => { finding.isProblem = true; });
story.requests.forEach((request) => {
  if (request.end === 'failed' && request.completion !== null) {
    story.calls[request.completion].isProblem = true;
  }
});
// A finding comes before its call, which has returned when it is written down.
story.events = [...story.findings, ...story.calls].sort((a, b) => a.time - b.time);

const processName = (process) =>
  `${process.program || 'a program'}, process ${process.pid}${process.host ? ` on ${process.host}` : ''}`;

// buildRows(): one row for each process and object, an object below its owner; below a QP the lanes of its requests.
function buildRows() {
  const children = new Map();
  const lanes = new Map();
  const flags = new Map();
  const under = (map, key) => map.get(key) || map.set(key, []).get(key);
  story.objects.forEach((object, index) => {
    object.index = index;
    under(children, object.owner === null ? `process ${object.process}` : object.owner).push(object);
  });
  story.requests.forEach((request) => {
    under(lanes, `${request.object} ${request.isSend}`).push(request);
  });
  story.findings.forEach((finding) => {
    under(flags, finding.object === null ? `process ${finding.process}` : finding.object).push(finding);
  });

  // Of each process the calls that belong to no object: their marks have a strip below its name.
  const strays = new Set(story.calls.filter((call) => call.object === null).map((call) => `process ${call.process}`));

  const rows = [];
  let y = 0;
  const add = (row) => {
    row.top = y;
    row.flags = flags.get(row.key) || [];
    // Flags have a strip of their own above the bar.
    row.bar = y + (row.flags.length ? 17 : 3) + (row.kind === 'process' ? 4 : 0);
    row.bottom = row.kind === 'lane' ? y + 46 : row.bar + 16 + (row.kind === 'process' ? 7 : 3);
    row.marks = row.bar + 8; // where the calls are marked
    if (strays.has(row.key)) {
      row.marks += 18;
      row.bottom += 16;
    }
    y = row.bottom;
    row.calls = [];
    rows.push(row);
    return row;
  };
  const addObject = (object, depth) => {
    object.row = add({kind: 'object', key: object.index, object, depth});
    for (const isSend of [true, false]) {
      const requests = lanes.get(`${object.index} ${isSend}`);
      if (requests) {
        const row = add({kind: 'lane', key: '', object, depth: depth + 1, isSend, requests});
        requests.forEach((request) => { request.row = row; });
      }
    }
    (children.get(object.index) || []).sort((a, b) => a.from - b.from).forEach((child) => addObject(child, depth + 1));
  };
  // The peers one above the other, in each the processes in the order in which they began.
  const order = [...story.processes.keys()].sort((a, b) => {
    const [one, other] = [story.processes[a], story.processes[b]];
    return one.trace - other.trace || one.from - other.from;
  });
  for (const index of order) {
    const process = story.processes[index];
    process.row = add({kind: 'process', key: `process ${index}`, process, depth: 0});
    (children.get(`process ${index}`) || []).sort((a, b) => a.from - b.from).forEach((object) => addObject(object, 0));
  }
  // Each call has its mark on the row of its object; posts are in the lanes.
  story.calls.forEach((call) => {
    call.row = call.object === null ? story.processes[call.process].row : story.objects[call.object].row;
    if (!call.verb.startsWith('ibv_post_') || call.isFailed) {
      call.row.calls.push(call);
    }
  });
  rows.forEach((row) => row.calls.sort((a, b) => a.time - b.time));
  story.findings.forEach((finding) => {
    finding.row = finding.object === null ? story.processes[finding.process].row : story.objects[finding.object].row;
  });
  story.states.forEach((state) => {
    const row = story.objects[state.object].row;
    (row.states ||= []).push(state);
  });
  return {rows, height: y};
}
const {rows, height: chartHeight} = buildRows();

// formatTime(ns, step): a time or a duration; with a step in the unit of the step, exact to it.
function formatTime(ns, step) {
  const size = Math.abs(step ?? ns);
  const [unit, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const decimals = step === undefined ? (unit === 1 ? 0 : 3) : 0;
  return `${(ns / unit).toFixed(decimals)} ${name}`;
}
