/// @file
/// What happened, as traces tell it (docs/verbs-check/trace.md): processes, their objects, queue pair states, requests
/// and what became of them. Plain data; each part refers to others by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace timeline {

using Time = std::int64_t;  ///< nanoseconds: CLOCK_MONOTONIC of the trace, after align() that of the first trace
using Index = std::size_t;
constexpr Index none = std::numeric_limits<Index>::max();

/// A process. One that became another program by exec(2) is two.
struct Process {
  Index trace = 0;
  std::int64_t pid = 0;
  std::string program;  ///< empty when the trace lacks its start
  std::string host;
  Time from = 0;
  Time to = 0;
  std::optional<Time> realtime;  ///< CLOCK_REALTIME less CLOCK_MONOTONIC at its start
};

/// A line with a verb.
struct Call {
  Time time = 0;   ///< when it had returned
  Time after = 0;  ///< when the thread was seen last before: the call began then, or later
  Index process = 0;
  std::int64_t thread = 0;
  std::string verb;
  Index object = none;  ///< the one that it made, used or destroyed; of a failed call without one, what it was to use
  bool is_failed = false;
  bool is_rare =
      false;  ///< it made, changed or destroyed an object, failed, or has a finding: the last to be thinned out
  std::size_t items = 1;  ///< one, and one for each request or completion in it
  std::string_view line;  ///< the line of the trace
};

struct Object {
  std::string name;  ///< "QP #1"
  Index process = 0;
  Index owner = none;
  Time from = 0;
  Time to = 0;
  Index made = none;                   ///< the call; none when the trace does not have it
  Index destroyed = none;              ///< the call; none when it lived to the end, or went with its context
  bool is_alive = true;                ///< at the end
  std::optional<std::int64_t> number;  ///< of a QP: its QP number
};

/// A QP in one state.
struct State {
  Index object = none;
  std::string name;  ///< "RTS"
  Time from = 0;
  Time to = 0;
  Index call = none;         ///< that brought it there
  bool is_inferred = false;  ///< no call did: a completion shows it
};

/// How a request ended.
enum class End {
  open,       ///< not yet, when the trace ended
  completed,  ///< by its completion, with success
  failed,     ///< by its completion, with an error
  retired,    ///< unsignalled; a later completion shows that it is done
  discarded,  ///< the QP was reset or destroyed before
  refused,    ///< the post failed
};
[[nodiscard]] const char* end_name(End end);

struct Request {
  Index object = none;  ///< the QP, or the SRQ of a receive
  bool is_send = false;
  std::int64_t wr_id = 0;
  Time from = 0;
  Time to = 0;
  End end = End::open;
  Index post = none;        ///< the call; none when only the completion was seen
  Index post_at = 0;        ///< the how-manieth request of it
  Index completion = none;  ///< the call that polled its completion, or that of the one that retired it
  Index completion_at = 0;
  std::int64_t length = -1;
};

/// A QP between the time when it learned of its peer and its reset.
struct Connection {
  Index object = none;
  std::int64_t number = 0;
  std::int64_t peer = 0;  ///< the QP number there
  std::optional<std::int64_t> send_psn;
  std::optional<std::int64_t> receive_psn;
  std::vector<Index> sends;     ///< requests that consume a receive of the peer, in order
  std::vector<Index> receives;  ///< those that completed with success, in order
};

/// A request here whose data completed a receive there.
struct Message {
  Index send = none;
  Index receive = none;
};

struct Finding {
  Time time = 0;
  Index process = 0;
  Index object = none;
  Index call = none;  ///< that it is about; none for what is found when the program ends
  std::string id;
  std::string what;
  std::string objects;
  std::string where;
};

struct Story {
  std::vector<Process> processes;
  std::vector<Call> calls;
  std::vector<Object> objects;
  std::vector<State> states;
  std::vector<Request> requests;
  std::vector<Connection> connections;  ///< of reliable connections only
  std::vector<Message> messages;
  std::vector<Finding> findings;
};

}  // namespace timeline
