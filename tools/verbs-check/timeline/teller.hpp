/// @file
/// From the lines of traces to the story.
#pragma once

#include "timeline/story.hpp"

#include <nlohmann/json.hpp>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace timeline {

/// Keeps the order of the members.
using Json = nlohmann::ordered_json;

/// Takes the lines of one or more traces, each in its order, and tells what happened.
class Teller {
public:
  /// One line. `text` must live as long as the story. Returns why it is no line of a trace, or an empty text.
  std::string add(Index trace, std::string_view text);

  /// Ends what is still open, and gives the story away.
  [[nodiscard]] Story finish();

private:
  // Requests that wait for their completion.
  struct Queue {
    std::map<std::int64_t, std::deque<Index>> by_wr_id;
    std::deque<Index> unsignalled;
    std::map<std::int64_t, std::deque<Index>> early;  // completions that another thread polled before the post was back
  };
  struct QueuePair {
    Queue send;
    Queue receive;
    Index srq = none;
    Index send_cq = none;
    Index recv_cq = none;
    bool all_signalled = false;
    bool is_reliable_connection = false;
    Index state = none;
    Index connection = none;
  };
  struct Known {  // of a process
    Index index = none;
    std::map<std::string, Index, std::less<>> objects;
    std::map<std::int64_t, Time> seen;       // threads
    std::map<std::int64_t, Index> findings;  // of each thread the first that waits for its call
  };

  Known& process_of(Index trace, const Json& line);
  Index object_of(Known& known, const std::string& name, Time time);
  void start(Known& known, const Json& line);
  void finding(Known& known, const Json& line);
  void call(Known& known, const Json& line, std::string_view text);

  void make(Known& known, Index call, const Json& line);
  void destroy(Index object, Index call);
  void end_life(Index object, Time time);
  void modify(Index object, Index call, const Json& args);
  void enter(Index object, std::string state, Time time, Index call);
  void post(Index object, Index call, const Json& args, bool is_send);
  void complete(Known& known, Index call, const Json& completions);
  void complete_one(Index object, Index call, Index at, const Json& completion);
  Index take(Queue& queue, std::int64_t wr_id);
  Index take_early(Queue& queue, std::int64_t wr_id, std::int64_t thread);
  bool is_of_send(const QueuePair& qp, const Queue& receive, Index call, const Json& completion) const;
  void retire(Queue& queue, Index completed);
  void discard(Queue& queue, Time time);
  Queue& receive_queue(Index object);

  Story story_;
  std::map<std::pair<Index, std::int64_t>, Known> processes_;
  std::map<Index, QueuePair> queue_pairs_;
  std::map<Index, Queue> shared_;  // of SRQs
};

}  // namespace timeline
