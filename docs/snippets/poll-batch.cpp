// How do I poll in batches?

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>

// Hands out all completions that are there; returns how many. Does not wait.
std::size_t poll_all(ibv_cq* cq, const std::function<void(const ibv_wc&)>& handle) {
  std::array<ibv_wc, 16> batch{};
  std::size_t total = 0;
  while (true) {
    const int count = ibv_poll_cq(cq, batch.size(), batch.data());
    if (count < 0) {
      throw std::runtime_error("ibv_poll_cq failed: the completion queue is broken");
    }
    for (const ibv_wc& completion : std::span{batch}.first(static_cast<std::size_t>(count))) {
      handle(completion);
    }
    total += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < batch.size()) {
      return total;
    }
  }
}
