/// @file
/// @brief The end of patience.
///
/// Every loop that waits for a peer or for a completion asks one of these.
#pragma once

#include <chrono>

namespace lab {

/// A point in time after which waiting is over.
class Deadline {
public:
  /// A clock that nobody sets: it only goes forward.
  using Clock = std::chrono::steady_clock;

  /// @param patience how long from now on, in milliseconds
  explicit Deadline(std::chrono::milliseconds patience) : end_{Clock::now() + patience} {}

  /// @return whether the waiting is over
  [[nodiscard]] bool passed() const { return Clock::now() >= end_; }

  /// What is left, in the form that poll(2) wants.
  /// @return milliseconds, rounded up and never negative
  [[nodiscard]] int milliseconds_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return left > 0 ? static_cast<int>(left) : 0;
  }

private:
  Clock::time_point end_;
};

}  // namespace lab
