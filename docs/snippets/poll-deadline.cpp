// How do I poll with a deadline?

#include <infiniband/verbs.h>

#include <chrono>
#include <optional>
#include <stdexcept>

// The next completion, whatever its status; none when the deadline has passed.
std::optional<ibv_wc> poll_until(ibv_cq* cq, std::chrono::steady_clock::time_point deadline) {
  ibv_wc completion{};
  while (true) {
    const int count = ibv_poll_cq(cq, 1, &completion);
    if (count > 0) {
      return completion;
    }
    if (count < 0) {  // no errno value, and none in errno
      throw std::runtime_error("ibv_poll_cq failed: the completion queue is broken");
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return std::nullopt;
    }
  }
}
