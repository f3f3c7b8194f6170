/// @file
/// Runs of a submission, by way of a box on the host and, for its peer, one on the other host.
#pragma once

#include "tools/judge/lab.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace judge {

/// The machinery has failed, not the submission.
class Trouble : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Where a submission is, and where it runs.
struct Setup {
  std::string program;                ///< absolute path of the plain build
  std::string sanitized;              ///< of the sanitized build; empty: there is none
  std::string library;                ///< of verbs-check
  std::vector<std::string> box;       ///< command that runs a box where the submission runs
  std::vector<std::string> peer_box;  ///< and where the peer does; empty: the lab has no peers
  std::string peer_address;           ///< of the host of the peers, for the submission
  std::string own_address;            ///< and of the submission's own, for the peers
  bool share = true;                  ///< the other host makes some of the runs without a peer
  unsigned time_scale = 1;
  long longest_ms = 3'600'000;  ///< no run may take longer, whatever the lab says; for tests
};

/// The boxes are started by the first run, and end with the session.
class Session {
public:
  explicit Session(Setup setup);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Makes the runs, several at a time, and returns what became of them. Throws Trouble when a box is gone.
  Outcomes run(const std::vector<Run>& runs);

  /// All that the runs so far have done, for reading: how each ended, what it printed, which verbs it called.
  [[nodiscard]] std::string log() const;

  /// The RDMA devices of the host, separated by blanks; empty before the first run.
  [[nodiscard]] std::string device() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace judge
