#include "timeline/align.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

namespace timeline {

namespace {

Index trace_of(const Story& story, Index object) { return story.processes[story.objects[object].process].trace; }

bool agree(const std::optional<std::int64_t>& one, const std::optional<std::int64_t>& other) {
  return !one || !other || *one == *other;
}

// What the messages and the start lines say of the time to add to the second trace.
struct Evidence {
  std::optional<Time> realtime;
  std::optional<Time> at_least;  // by messages to the second trace
  std::optional<Time> at_most;   // by messages from it
  std::size_t there = 0;
  std::size_t back = 0;
  bool is_same_host = false;
};

Evidence evidence_of(const Story& story) {
  Evidence evidence;
  const auto first_of = [&](Index trace) {
    return std::ranges::find_if(story.processes,
                                [&](const Process& p) { return p.trace == trace && p.realtime.has_value(); });
  };
  const auto first = first_of(0);
  const auto second = first_of(1);
  if (first != story.processes.end() && second != story.processes.end()) {
    constexpr Time far = Time{1} << 62;  // so that a time and this do not overflow
    evidence.realtime = std::clamp(*second->realtime - *first->realtime, -far, far);
    evidence.is_same_host = !first->host.empty() && first->host == second->host;
  }
  for (const Message& message : story.messages) {
    const Request& send = story.requests[message.send];
    const Request& receive = story.requests[message.receive];
    const Index from = trace_of(story, send.object);
    if (send.post == none || from == trace_of(story, receive.object)) {
      continue;
    }
    // It was sent after the call began, and received before the other one had returned.
    const Time sent = story.calls[send.post].after;
    if (from == 0) {
      ++evidence.there;
      evidence.at_least = std::max(evidence.at_least.value_or(sent - receive.to), sent - receive.to);
    } else {
      ++evidence.back;
      evidence.at_most = std::min(evidence.at_most.value_or(receive.to - sent), receive.to - sent);
    }
  }
  return evidence;
}

void shift(Story& story, Time by) {
  const auto is_second = [&](Index process) { return story.processes[process].trace == 1; };
  for (Process& process : story.processes) {
    if (process.trace == 1) {
      process.from += by;
      process.to += by;
    }
  }
  for (Call& call : story.calls) {
    if (is_second(call.process)) {
      call.time += by;
      call.after += by;
    }
  }
  for (Finding& finding : story.findings) {
    if (is_second(finding.process)) {
      finding.time += by;
    }
  }
  const auto shift_those = [&](auto& things, auto process_of) {
    for (auto& thing : things) {
      if (is_second(process_of(thing))) {
        thing.from += by;
        thing.to += by;
      }
    }
  };
  shift_those(story.objects, [](const Object& object) { return object.process; });
  const auto by_object = [&](const auto& thing) { return story.objects[thing.object].process; };
  shift_those(story.states, by_object);
  shift_those(story.requests, by_object);
}

std::string count_text(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

std::string duration_text(Time duration) {
  struct Unit {
    Time size;
    const char* name;
  };
  std::ostringstream text;
  text.precision(3);
  for (const Unit& unit : {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "µs"}}) {
    if (std::abs(duration) >= unit.size) {
      text << static_cast<double>(duration) / static_cast<double>(unit.size) << ' ' << unit.name;
      return text.str();
    }
  }
  text << duration << " ns";
  return text.str();
}

void join_messages(Story& story) {
  std::multimap<std::pair<std::int64_t, std::int64_t>, Index> by_numbers;
  for (Index i = 0; i < story.connections.size(); ++i) {
    by_numbers.emplace(std::pair{story.connections[i].number, story.connections[i].peer}, i);
  }
  const auto peer_of = [&](const Connection& one) {
    Index peer = none;
    const auto [begin, end] = by_numbers.equal_range({one.peer, one.number});
    for (auto candidate = begin; candidate != end; ++candidate) {
      const Connection& other = story.connections[candidate->second];
      if (agree(one.send_psn, other.receive_psn) && agree(one.receive_psn, other.send_psn)) {
        if (peer != none) {
          return none;
        }
        peer = candidate->second;
      }
    }
    return peer;
  };
  for (const Connection& connection : story.connections) {
    const Index peer = peer_of(connection);
    if (peer == none) {
      continue;
    }
    const std::vector<Index>& receives = story.connections[peer].receives;
    const std::size_t count = std::min(connection.sends.size(), receives.size());
    for (std::size_t i = 0; i < count; ++i) {
      story.messages.push_back({.send = connection.sends[i], .receive = receives[i]});
    }
  }
}

std::string align(Story& story, const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return {};
  }
  const Evidence evidence = evidence_of(story);
  const std::string& second = names[1];
  std::string text = "Clocks: " + names[0] + " as recorded. ";
  constexpr Time same_clock = 1'000'000;
  if (evidence.is_same_host && std::abs(*evidence.realtime) < same_clock) {
    return text + second + " comes from the same host, whose one clock both have: nothing was moved.";
  }
  if (!evidence.there && !evidence.back && !evidence.realtime) {
    return text + second +
           " as recorded too: neither a start line nor a message tells how the two go together. Compare times " +
           "within one trace only.";
  }
  const std::string messages =
      count_text(evidence.there, "message") + " to it and " + std::to_string(evidence.back) + " back";
  Time by = evidence.realtime.value_or(0);
  std::string how;
  if (evidence.at_least && evidence.at_most && *evidence.at_least > *evidence.at_most) {
    by = *evidence.at_most + (*evidence.at_least - *evidence.at_most) / 2;
    how = "in the middle of what " + messages + " ask for. They contradict each other by " +
          duration_text(*evidence.at_least - *evidence.at_most) +
          ": the clocks do not run equally fast, or a trace lacks lines.";
  } else if (evidence.at_least && evidence.at_most) {
    const bool is_possible = evidence.realtime && by >= *evidence.at_least && by <= *evidence.at_most;
    if (!is_possible) {
      by = *evidence.at_least + (*evidence.at_most - *evidence.at_least) / 2;
    }
    how = std::string{is_possible ? "by the hosts' real-time clocks, which " : "in the middle of what "} + messages +
          (is_possible ? " do not contradict" : " allow; the hosts' real-time clocks are further apart than that") +
          ". No message may arrive before it was sent: that makes it exact to " +
          duration_text(std::max(by - *evidence.at_least, *evidence.at_most - by)) + ".";
  } else {
    const Time real = by;
    by = std::max(by, evidence.at_least.value_or(by));
    by = std::min(by, evidence.at_most.value_or(by));
    how = evidence.realtime ? "by the hosts' real-time clocks" : "by messages alone";
    if (evidence.there + evidence.back > 0) {
      how += by == real && evidence.realtime ? ", which " + messages + " do not contradict"
                                             : ", as far as " + messages + " allow";
      how += ". With messages in one direction only the other limit is not known: how exact it is cannot be said.";
    } else {
      how += " alone: no message between the two was recognised. It is as exact as those clocks are.";
    }
  }
  shift(story, by);
  return text + second + " was moved by " + duration_text(by) + ", " + how;
}

}  // namespace timeline
