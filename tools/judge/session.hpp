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

/// The boxes on the two hosts, for any number of submissions one after the other. Each is started by the first run
/// that needs it; both end with this, or when one of them is in trouble: the next run has new ones.
class Boxes {
public:
  /// The commands that run a box where submissions run, and where their peers do (empty: there are no peers).
  Boxes(std::vector<std::string> own, std::vector<std::string> peer);
  Boxes(const Boxes&) = delete;
  Boxes& operator=(const Boxes&) = delete;
  ~Boxes();

  /// Starts them before anything is to be run; a box that does not start is noticed by the first run.
  void start();
  /// Ends them until they are needed again.
  void stop();

private:
  friend class Session;
  struct State;
  std::unique_ptr<State> state_;
};

/// Where a submission is, and how it runs.
struct Setup {
  std::string program;       ///< absolute path of the plain build
  std::string sanitized;     ///< of the sanitized build; empty: there is none
  std::string library;       ///< of verbs-check
  std::string world;         ///< library that makes the device behave as a run wants it: world.cpp
  std::string peer_address;  ///< of the host of the peers, for the submission
  std::string own_address;   ///< and of the submission's own, for the peers
  bool share = true;         ///< the other host makes some of the runs without a peer
  unsigned time_scale = 1;
  long longest_ms = 3'600'000;  ///< no run may take longer, whatever the lab says; for tests
};

/// The runs of one submission. The boxes must outlive it.
class Session {
public:
  Session(Setup setup, Boxes& boxes);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Makes the runs, several at a time, and returns what became of them. Throws Trouble when a box is gone.
  Outcomes run(const std::vector<Run>& runs);

  /// Whether runs without a peer are spread over both hosts.
  [[nodiscard]] bool shares() const;

  /// All that the runs so far have done, for reading: how each ended, what it printed, which verbs it called.
  [[nodiscard]] std::string log() const;

  /// The RDMA devices of the host, separated by blanks; empty before the first run.
  [[nodiscard]] std::string device() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace judge
