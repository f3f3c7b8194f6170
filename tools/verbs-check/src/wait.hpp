// Waiting in place of a verb that would block, so that there is something to say when it takes long. To the program it
// is as if the verb itself had waited.
#pragma once

#include <chrono>

namespace verbs_check {

enum class Wait { ready, too_long, interrupted };

// Until the descriptor is readable. `interrupted`: a signal handler has run that makes a read(2) fail with EINTR.
[[nodiscard]] Wait wait_readable(int descriptor, std::chrono::milliseconds patience);

[[nodiscard]] bool is_blocking(int descriptor);

// No second thread was ever started: nobody else can do what this thread is waiting for.
[[nodiscard]] bool is_single_threaded();

// Until `done` says so; in a program with one thread, and after `patience`, at once. What it said last.
template <class Done>
bool wait_until(std::chrono::milliseconds patience, Done done);

// For wait_until: gives the other threads a moment.
void pause_briefly();

template <class Done>
bool wait_until(std::chrono::milliseconds patience, Done done) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (done()) {
      return true;
    }
    if (is_single_threaded() || std::chrono::steady_clock::now() >= end) {
      return false;
    }
    pause_briefly();
  }
}

}  // namespace verbs_check
