#include "timeline/teller.hpp"

#include <algorithm>
#include <array>

namespace timeline {

namespace {

constexpr Time latest = Time{1} << 62;  // sums and differences of two times do not overflow

std::string text_of(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<std::int64_t> number_of(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number_integer() ? std::optional{found->get<std::int64_t>()} : std::nullopt;
}

// The array of this name; an empty one when there is none.
const Json& list_of(const Json& line, const char* name) {
  static const Json empty = Json::array();
  const auto found = line.find(name);
  return found != line.end() && found->is_array() ? *found : empty;
}

const Json& object_in(const Json& line, const char* name) {
  static const Json empty = Json::object();
  const auto found = line.find(name);
  return found != line.end() && found->is_object() ? *found : empty;
}

// "QP" for "QP #1".
std::string_view kind_of(std::string_view name) { return name.substr(0, name.rfind(" #")); }

bool destroys(std::string_view verb) {
  constexpr std::array parts{"_destroy_", "_dealloc_", "_dereg_", "_close_", "_free_"};
  return std::ranges::any_of(parts, [&](const char* part) { return verb.find(part) != std::string_view::npos; });
}

bool is_time(const std::optional<std::int64_t>& value) { return value && *value >= 0 && *value < latest; }

// Each of them takes a receive of the peer.
bool consumes_receive(std::string_view opcode) {
  return opcode.starts_with("IBV_WR_SEND") || opcode == "IBV_WR_RDMA_WRITE_WITH_IMM";
}

// Why the line is none of a trace.
std::string fault_of(const Json& line) {
  if (line.is_discarded()) {
    return "not JSON";
  }
  if (!line.is_object()) {
    return "not a JSON object";
  }
  for (const char* const name : {"time_ns", "pid", "thread"}) {
    if (!is_time(number_of(line, name))) {
      return std::string{"the number "} + name + " is missing";
    }
  }
  if (line.contains("event")) {
    const std::string event = text_of(line, "event");
    if (event == "start" && !is_time(number_of(line, "realtime_ns"))) {
      return "a start without the number realtime_ns";
    }
    return event.empty() ? "event is not a text" : "";
  }
  if (text_of(line, "verb").empty()) {
    return "neither a verb nor an event";
  }
  return number_of(line, "result") ? "" : "the number result is missing";
}

}  // namespace

const char* end_name(End end) {
  constexpr std::array names{"open", "completed", "failed", "retired", "discarded", "refused"};
  return names.at(static_cast<std::size_t>(end));
}

std::string Teller::add(Index trace, std::string_view text) {
  const Json line = Json::parse(text, nullptr, false);
  if (std::string fault = fault_of(line); !fault.empty()) {
    return fault;
  }
  Known& known = process_of(trace, line);
  const Time time = *number_of(line, "time_ns");
  Process& process = story_.processes[known.index];
  process.from = std::min(process.from, time);
  process.to = std::max(process.to, time);
  const std::string event = text_of(line, "event");
  if (event == "start") {
    start(known, line);
  } else if (event == "finding") {
    finding(known, line);
  } else if (event.empty()) {
    call(known, line, text);
  }
  known.seen[*number_of(line, "thread")] = time;
  return {};
}

Teller::Known& Teller::process_of(Index trace, const Json& line) {
  const std::int64_t pid = *number_of(line, "pid");
  Known& known = processes_[{trace, pid}];
  // A second start: the process has become another program, or the number was given again.
  const bool starts = text_of(line, "event") == "start" && known.index != none;
  if (known.index == none || starts) {
    known = {};
    known.index = story_.processes.size();
    const Time time = *number_of(line, "time_ns");
    story_.processes.push_back({.trace = trace, .pid = pid, .from = time, .to = time});
  }
  return known;
}

void Teller::start(Known& known, const Json& line) {
  Process& process = story_.processes[known.index];
  process.program = text_of(line, "program");
  process.host = text_of(line, "host");
  process.realtime = *number_of(line, "realtime_ns") - *number_of(line, "time_ns");
}

// The object of this name; one that was not seen to be made begins here.
Index Teller::object_of(Known& known, const std::string& name, Time time) {
  if (name.empty()) {
    return none;
  }
  const auto [found, is_new] = known.objects.try_emplace(name, story_.objects.size());
  if (is_new) {
    story_.objects.push_back({.name = name, .process = known.index, .from = time, .to = time});
  }
  return found->second;
}

void Teller::finding(Known& known, const Json& line) {
  const Time time = *number_of(line, "time_ns");
  const std::string objects = text_of(line, "objects");
  Index object = none;
  // "QP #1 (made in main, a.cpp:12), MR #2 (made ...)": the first that is known.
  if (const auto found = known.objects.find(objects.substr(0, objects.find(" ("))); found != known.objects.end()) {
    object = found->second;
  }
  const std::int64_t thread = *number_of(line, "thread");
  known.findings.try_emplace(thread, story_.findings.size());
  story_.findings.push_back({.time = time,
                             .process = known.index,
                             .object = object,
                             .id = text_of(line, "id"),
                             .what = text_of(line, "what"),
                             .objects = objects,
                             .where = text_of(line, "where")});
}

void Teller::call(Known& known, const Json& line, std::string_view text) {
  const Time time = *number_of(line, "time_ns");
  const std::int64_t thread = *number_of(line, "thread");
  const std::int64_t result = *number_of(line, "result");
  const Json& args = object_in(line, "args");
  const Json& uses = list_of(line, "uses");
  const Json& completions = list_of(line, "completions");
  const auto seen = known.seen.find(thread);

  const Index index = story_.calls.size();
  story_.calls.push_back({.time = time,
                          .after = seen == known.seen.end() ? story_.processes[known.index].from : seen->second,
                          .process = known.index,
                          .thread = thread,
                          .verb = text_of(line, "verb"),
                          .object = object_of(known, text_of(line, "object"), time),
                          .items = 1 + list_of(args, "requests").size() + completions.size(),
                          .line = text});
  Call& call = story_.calls.back();
  const std::string verb = call.verb;
  call.is_failed = verb == "ibv_poll_cq" ? result < 0 : result != 0;
  call.is_rare = call.is_failed || !uses.empty() || line.contains("uses") || destroys(verb) || verb == "ibv_modify_qp";
  if (call.object == none && !uses.empty() && uses.back().is_string()) {
    call.object = object_of(known, uses.back().get<std::string>(), time);
  }
  const Index object = call.object;

  // The findings just before, of this thread, at this place, are about this call.
  if (const auto waiting = known.findings.find(thread); waiting != known.findings.end()) {
    for (Index i = waiting->second; i < story_.findings.size(); ++i) {
      Finding& finding = story_.findings[i];
      if (finding.process == known.index && finding.where == text_of(line, "where")) {
        finding.call = index;
        finding.object = object == none ? finding.object : object;
        story_.calls[index].is_rare = true;
      }
    }
    known.findings.erase(waiting);
  }

  if (verb == "ibv_post_recv" || verb == "ibv_post_srq_recv" || verb == "ibv_post_send") {
    if (object != none) {
      post(object, index, args, verb == "ibv_post_send");
    }
  } else if (!completions.empty()) {
    complete(known, index, completions);
  } else if (story_.calls[index].is_failed || object == none) {
    return;
  } else if (line.contains("uses")) {
    make(known, index, line);
  } else if (destroys(verb)) {
    destroy(object, index);
  } else if (verb == "ibv_modify_qp") {
    modify(object, index, args);
  }
}

void Teller::make(Known& known, Index call, const Json& line) {
  const Time time = story_.calls[call].time;
  const Index object = story_.calls[call].object;
  // Its owner: the PD before the context, these before any other.
  Index owner = none;
  int rank = -1;
  for (const Json& use : list_of(line, "uses")) {
    if (!use.is_string()) {
      continue;
    }
    const Index used = object_of(known, use.get<std::string>(), time);
    const std::string_view kind = kind_of(use.get_ref<const std::string&>());
    const int of_use = kind == "PD" ? 2 : kind == "context" ? 1 : 0;
    if (of_use > rank && used != object) {
      owner = used;
      rank = of_use;
    }
  }
  Object& made = story_.objects[object];
  made.owner = owner;
  made.made = call;
  const Json& args = object_in(line, "args");
  if (kind_of(made.name) != "QP") {
    return;
  }
  made.number = number_of(args, "qp_num");
  QueuePair& qp = queue_pairs_[object];
  const auto named = [&](const char* name) { return object_of(known, text_of(args, name), time); };
  qp.srq = named("srq");
  qp.send_cq = named("send_cq");
  qp.recv_cq = named("recv_cq");
  qp.all_signalled = number_of(args, "sq_sig_all").value_or(0) != 0;
  qp.is_reliable_connection = text_of(args, "qp_type") == "IBV_QPT_RC";
  enter(object, "RESET", time, call);
}

void Teller::destroy(Index object, Index call) {
  const Time time = story_.calls[call].time;
  story_.objects[object].destroyed = call;
  // What is left of a closed context goes with it.
  if (kind_of(story_.objects[object].name) == "context") {
    for (Index other = object + 1; other < story_.objects.size(); ++other) {
      Index owner = story_.objects[other].owner;
      while (owner != none && owner != object) {
        owner = story_.objects[owner].owner;
      }
      if (owner == object) {
        end_life(other, time);
      }
    }
  }
  end_life(object, time);
}

void Teller::end_life(Index object, Time time) {
  Object& ended = story_.objects[object];
  if (!ended.is_alive) {
    return;
  }
  ended.is_alive = false;
  ended.to = time;
  if (const auto qp = queue_pairs_.find(object); qp != queue_pairs_.end()) {
    if (qp->second.state != none) {
      story_.states[qp->second.state].to = time;
    }
    discard(qp->second.send, time);
    discard(qp->second.receive, time);
    queue_pairs_.erase(qp);
  }
  if (const auto srq = shared_.find(object); srq != shared_.end()) {
    discard(srq->second, time);
    shared_.erase(srq);
  }
}

void Teller::modify(Index object, Index call, const Json& args) {
  QueuePair& qp = queue_pairs_[object];
  const Time time = story_.calls[call].time;
  const std::string state = text_of(args, "qp_state");
  if (state == "RESET") {
    discard(qp.send, time);
    discard(qp.receive, time);
    qp.connection = none;
  }
  const auto number = story_.objects[object].number;
  if (const auto peer = number_of(args, "dest_qp_num"); peer && number && qp.is_reliable_connection) {
    qp.connection = story_.connections.size();
    story_.connections.push_back({.object = object, .number = *number, .peer = *peer});
  }
  if (qp.connection != none) {
    Connection& connection = story_.connections[qp.connection];
    for (const auto& [name, psn] :
         {std::pair{"sq_psn", &connection.send_psn}, std::pair{"rq_psn", &connection.receive_psn}}) {
      if (const auto value = number_of(args, name)) {
        *psn = value;
      }
    }
  }
  if (!state.empty()) {
    enter(object, state, time, call);
  }
}

void Teller::enter(Index object, std::string state, Time time, Index call) {
  QueuePair& qp = queue_pairs_[object];
  if (qp.state != none) {
    story_.states[qp.state].to = time;
  }
  qp.state = story_.states.size();
  story_.states.push_back({.object = object, .name = std::move(state), .from = time, .to = time, .call = call});
}

Teller::Queue& Teller::receive_queue(Index object) {
  if (kind_of(story_.objects[object].name) == "SRQ") {
    return shared_[object];
  }
  QueuePair& qp = queue_pairs_[object];
  return qp.srq == none ? qp.receive : shared_[qp.srq];
}

// A completion with this wr_id that another thread has polled and written down before the post was back.
Index Teller::take_early(Queue& queue, std::int64_t wr_id, std::int64_t thread) {
  const auto early = queue.early.find(wr_id);
  if (early == queue.early.end()) {
    return none;
  }
  const Index request = early->second.front();
  if (story_.calls[story_.requests[request].completion].thread == thread) {
    return none;
  }
  early->second.pop_front();
  if (early->second.empty()) {
    queue.early.erase(early);
  }
  return request;
}

void Teller::post(Index object, Index call, const Json& args, bool is_send) {
  const bool is_failed = story_.calls[call].is_failed;
  const Time time = story_.calls[call].time;
  Queue& queue = is_send ? queue_pairs_[object].send : receive_queue(object);
  const Json& requests = list_of(args, "requests");
  for (Index at = 0; at < requests.size(); ++at) {
    const Json& posted = requests[at];
    if (!posted.is_object()) {
      continue;
    }
    const std::int64_t wr_id = number_of(posted, "wr_id").value_or(0);
    Index index = is_failed ? none : take_early(queue, wr_id, story_.calls[call].thread);
    if (index == none) {
      index = story_.requests.size();
      story_.requests.push_back({.to = time, .end = is_failed ? End::refused : End::open});
      // Of a list that failed the first ones may have been taken, never the last.
      if (!is_failed || at + 1 < requests.size()) {
        queue.by_wr_id[wr_id].push_back(index);
      }
    }
    Request& request = story_.requests[index];
    request.object = object;
    request.is_send = is_send;
    request.wr_id = wr_id;
    request.from = time;
    request.post = call;
    request.post_at = at;
    request.length = number_of(posted, "length").value_or(-1);
    if (!is_send || is_failed) {
      continue;
    }
    const QueuePair& qp = queue_pairs_[object];
    if (!qp.all_signalled && text_of(posted, "send_flags").find("SIGNALED") == std::string::npos &&
        request.end == End::open) {
      queue.unsignalled.push_back(index);
    }
    if (qp.connection != none && consumes_receive(text_of(posted, "opcode"))) {
      story_.connections[qp.connection].sends.push_back(index);
    }
  }
}

void Teller::complete(Known& known, Index call, const Json& completions) {
  for (Index at = 0; at < completions.size(); ++at) {
    if (!completions[at].is_object()) {
      continue;
    }
    const Index object = object_of(known, text_of(completions[at], "qp"), story_.calls[call].time);
    if (object != none) {
      complete_one(object, call, at, completions[at]);
    }
  }
}

// The oldest request with this wr_id that waits, or none.
Index Teller::take(Queue& queue, std::int64_t wr_id) {
  const auto waiting = queue.by_wr_id.find(wr_id);
  if (waiting == queue.by_wr_id.end()) {
    return none;
  }
  Index found = none;
  while (found == none && !waiting->second.empty()) {
    const Index front = waiting->second.front();
    waiting->second.pop_front();
    if (const End end = story_.requests[front].end; end == End::open || end == End::refused) {
      found = front;
    }
  }
  if (waiting->second.empty()) {
    queue.by_wr_id.erase(waiting);
  }
  return found;
}

// Is the completion one of the send queue? With an error it does not say; then the CQ does, or the wr_id.
bool Teller::is_of_send(const QueuePair& qp, const Queue& receive, Index call, const Json& completion) const {
  if (const std::string opcode = text_of(completion, "opcode"); !opcode.empty()) {
    return !opcode.starts_with("IBV_WC_RECV");
  }
  if (qp.send_cq != qp.recv_cq) {
    return story_.calls[call].object == qp.send_cq;
  }
  const std::int64_t wr_id = number_of(completion, "wr_id").value_or(0);
  const auto oldest = [&](const Queue& queue) {
    const auto waiting = queue.by_wr_id.find(wr_id);
    return waiting == queue.by_wr_id.end() ? none : waiting->second.front();
  };
  return oldest(qp.send) <= oldest(receive);
}

void Teller::complete_one(Index object, Index call, Index at, const Json& completion) {
  QueuePair& qp = queue_pairs_[object];
  const Time time = story_.calls[call].time;
  const std::int64_t wr_id = number_of(completion, "wr_id").value_or(0);
  const bool is_good = text_of(completion, "status") == "IBV_WC_SUCCESS";
  const bool is_send = is_of_send(qp, receive_queue(object), call, completion);
  Queue& queue = is_send ? qp.send : receive_queue(object);
  Index index = take(queue, wr_id);
  if (index == none) {
    index = story_.requests.size();
    story_.requests.push_back({.object = object, .is_send = is_send, .wr_id = wr_id, .from = time});
    queue.early[wr_id].push_back(index);
  }
  Request& request = story_.requests[index];
  request.to = time;
  request.end = is_good ? End::completed : End::failed;
  request.completion = call;
  request.completion_at = at;
  if (is_send) {
    retire(queue, index);
  } else if (is_good && qp.connection != none) {
    story_.connections[qp.connection].receives.push_back(index);
  }
  if (is_good) {
    return;
  }
  story_.calls[call].is_rare = true;
  if (request.post != none) {
    story_.calls[request.post].is_rare = true;
  }
  // A reliable connection ends in ERR with the first request that fails.
  if (qp.is_reliable_connection && qp.state != none && story_.states[qp.state].name != "ERR") {
    enter(object, "ERR", time, call);
    story_.states[qp.state].is_inferred = true;
  }
}

// The unsignalled sends before it are done too.
void Teller::retire(Queue& queue, Index completed) {
  const Request& last = story_.requests[completed];
  while (!queue.unsignalled.empty() && queue.unsignalled.front() <= completed) {
    Request& request = story_.requests[queue.unsignalled.front()];
    queue.unsignalled.pop_front();
    if (request.end == End::open) {
      request.end = End::retired;
      request.to = last.to;
      request.completion = last.completion;
      request.completion_at = last.completion_at;
    }
  }
}

void Teller::discard(Queue& queue, Time time) {
  for (const auto& [wr_id, waiting] : queue.by_wr_id) {
    for (const Index index : waiting) {
      if (Request& request = story_.requests[index]; request.end == End::open) {
        request.end = End::discarded;
        request.to = time;
      }
    }
  }
  queue = {};
}

Story Teller::finish() {
  for (Object& object : story_.objects) {
    if (object.is_alive) {
      object.to = story_.processes[object.process].to;
    }
  }
  for (const auto& [object, qp] : queue_pairs_) {
    if (qp.state != none) {
      story_.states[qp.state].to = story_.objects[object].to;
    }
  }
  for (Request& request : story_.requests) {
    if (request.end == End::open) {
      request.to = story_.objects[request.object].to;
    }
  }
  return std::move(story_);
}

}  // namespace timeline
