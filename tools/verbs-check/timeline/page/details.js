// What is said about a thing: in the panel below the chart, and in the table.

const details = document.getElementById('details');

// textOf(value): arguments as text.
function textOf(value) {
  if (Array.isArray(value)) {
    const shown = value.slice(0, 20).map((each) => typeof each === 'object' && each !== null ? `{${textOf(each)}}` : textOf(each));
    return shown.join(', ') + (value.length > shown.length ? `, and ${value.length - shown.length} more` : '');
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, each]) => `${key} ${textOf(each)}`).join(', ');
  }
  return value === '' ? 'none' : String(value);
}

const resultOf = (call) => call.isFailed ? `failed: ${call.errno || call.result}` : call.verb === 'ibv_poll_cq' ? `${call.result} completion(s)` : 'ok';
const whereOf = (index) => index === null ? 'a call that is not in the page' : `${story.calls[index].verb} in ${story.calls[index].where || 'an unknown place'}`;
const argumentsOf = (call) => [
  Object.keys(call.args).length ? textOf(call.args) : '',
  call.completions.length ? `completions: ${textOf(call.completions)}` : '',
  call.uses.length ? `uses: ${textOf(call.uses)}` : '',
].filter((text) => text).join('; ');

function describeCall(call) {
  return [call.verb, {
    Object: call.name || (call.object === null ? '' : `${story.objects[call.object].name} was to be used`),
    Time: formatTime(call.time), Result: resultOf(call), Where: call.where,
    Details: argumentsOf(call), Process: `${processName(story.processes[call.process])}, thread ${call.thread}`,
  }];
}

function describeFinding(finding) {
  return [`Finding: ${finding.id}`, {
    What: finding.what, Time: formatTime(finding.time), Where: finding.where, Objects: finding.objects,
    Call: finding.call === null ? '' : whereOf(finding.call), Process: processName(story.processes[finding.process]),
  }];
}

function describeRequest(request) {
  const posted = request.post === null ? {} : (story.calls[request.post].args.requests || [])[request.postAt] || {};
  const polled = request.completion === null ? {} : story.calls[request.completion].completions[request.completionAt] || {};
  const isDone = ['completed', 'failed', 'retired'].includes(request.end);
  const ends = {
    open: 'not completed when the trace ended',
    completed: `completed ${polled.status || 'with success'}${polled.opcode ? `, ${polled.opcode}` : ''}`,
    failed: `completed with an error: ${polled.status}`,
    retired: 'unsignalled: done, as a later completion of its queue shows',
    discarded: 'never completed: its queue was reset or destroyed',
    refused: 'refused: the post failed',
  };
  const partner = story.partners.get(request);
  return [`${request.isSend ? 'Send' : 'Receive'} request, wr_id ${request.wrId}, on ${story.objects[request.object].name}`, {
    End: ends[request.end],
    Request: request.isPosted ? textOf({...posted, wr_id: request.wrId}) : 'the trace has no post of it',
    Posted: request.isPosted ? `${formatTime(request.from)}, ${whereOf(request.post)}` : '',
    Polled: isDone ? `${formatTime(request.to)}, ${whereOf(request.completion)}` : '',
    Took: isDone && request.isPosted ? formatTime(request.to - request.from) : '',
    Message: partner ? `${request.isSend ? 'received' : 'sent'} by ${story.objects[partner.object].name} of ${processName(story.processes[story.objects[partner.object].process])}` : '',
  }];
}

function describeObject(object) {
  return [object.name, {
    Made: object.isMade ? `${formatTime(object.from)}, ${whereOf(object.made)}` : 'not in the trace; first seen at ' + formatTime(object.from),
    Destroyed: object.isAlive ? 'never, as far as the trace goes' : `${formatTime(object.to)}, ${object.destroyed === null ? 'with its context' : whereOf(object.destroyed)}`,
    Details: object.made === null ? '' : argumentsOf(story.calls[object.made]),
    Process: processName(story.processes[object.process]),
  }];
}

function describeState(state) {
  return [`${story.objects[state.object].name} in ${state.name}`, {
    From: formatTime(state.from), To: formatTime(state.to), For: formatTime(state.to - state.from),
    By: state.isInferred ? 'no call: a completion with an error shows it' : whereOf(state.call),
    Details: argumentsOf(story.calls[state.call]), Object: object_text(state),
  }];
}
const object_text = (state) => {
  const object = story.objects[state.object];
  return `${object.name}${object.number === null ? '' : `, qp_num 0x${object.number.toString(16).padStart(6, '0')}`}`;
};

function describe(item) {
  if (item.verb) return describeCall(item);
  if (item.id) return describeFinding(item);
  if (item.end !== undefined && 'wrId' in item) return describeRequest(item);
  if ('isInferred' in item) return describeState(item);
  if ('isAlive' in item) return describeObject(item);
  if (item.what) return [`Left out: ${item.what}`, {From: formatTime(item.from), To: formatTime(item.to)}];
  return [processName(item), {Trace: story.traces[item.trace].name, From: formatTime(item.from), To: formatTime(item.to)}];
}

story.partners = new Map(story.messages.flatMap(([send, receive]) => {
  const pair = [story.requests[send], story.requests[receive]];
  return [pair, [pair[1], pair[0]]];
}));

function html(parent, name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  Object.assign(made, attributes);
  parent.append(made);
  return made;
}

// showDetails(item, count): count things are drawn at the place of this one.
function showDetails(item, count = 1) {
  details.replaceChildren();
  if (!item) {
    html(details, 'p', 'Point at something, or step through the events with n and p.');
    return;
  }
  const [title, lines] = describe(item);
  html(details, 'h2', title + (count > 1 ? ` (and ${count - 1} more here: zoom in)` : ''));
  const list = html(details, 'dl', '');
  for (const [name, text] of Object.entries(lines)) {
    if (text) {
      html(list, 'dt', name);
      html(list, 'dd', text);
    }
  }
}

// The table: some hundred lines at a time, made when it is opened.
const table = {shown: 0, events: [], body: document.querySelector('#table tbody'), more: document.getElementById('more')};

function tableFill() {
  const onlyProblems = document.getElementById('only-problems').checked;
  table.events = story.events.filter((event) => event.isProblem || !onlyProblems);
  table.shown = 0;
  table.body.replaceChildren();
  tableMore();
}

function tableMore() {
  for (const event of table.events.slice(table.shown, table.shown + 500)) {
    const line = html(table.body, 'tr', '', {className: event.isProblem ? 'problem' : ''});
    const process = story.processes[event.process];
    const object = event.object === null ? '' : story.objects[event.object].name;
    const cells = event.verb
      ? [event.verb, event.name, resultOf(event), argumentsOf(event)]
      : [`finding: ${event.id}`, object, '', `${event.what}${event.objects ? `; objects: ${event.objects}` : ''}`];
    html(line, 'td', formatTime(event.time));
    html(line, 'td', `${process.host || ''} ${process.pid}`);
    cells.concat(event.where).forEach((text) => html(line, 'td', text));
    table.shown += 1;
  }
  table.more.hidden = table.shown >= table.events.length;
  document.getElementById('table-count').textContent = `${table.shown} of ${table.events.length} shown`;
}
