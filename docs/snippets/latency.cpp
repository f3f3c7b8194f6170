// How do I measure latency?

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

struct Latency {
  std::chrono::nanoseconds median{};
  std::chrono::nanoseconds p99{};  // 99 of 100 were no slower
};

// `round_trip` sends a message and returns when the answer is there. `count` at least 1; some more go before,
// unmeasured.
Latency measure(const std::function<void()>& round_trip, std::size_t count, std::size_t warm_up = 100) {
  for (std::size_t i = 0; i < warm_up; ++i) {
    round_trip();
  }
  std::vector<std::chrono::nanoseconds> times(count);
  for (std::chrono::nanoseconds& time : times) {
    const auto start = std::chrono::steady_clock::now();
    round_trip();
    time = std::chrono::steady_clock::now() - start;
  }
  std::sort(times.begin(), times.end());
  return {.median = times[(count - 1) / 2], .p99 = times[(count * 99 + 99) / 100 - 1]};
}
