// How do I choose timeout and retry_cnt for a bounded time?

#include <chrono>
#include <cstdint>
#include <optional>

// How long an RC QP may take to give up on a peer that does not answer. A device may wait up to four times the nominal
// 4.096 us x 2^timeout, once for the packet and once for each retry.
std::chrono::nanoseconds longest_wait(unsigned timeout, unsigned retry_cnt) {
  return std::chrono::nanoseconds{(std::int64_t{4096} << timeout) * 4 * (retry_cnt + 1)};
}

// The longest timeout with which the QP has given up within `limit`; none when even the shortest takes longer. 0 is
// left out: it means no timeout at all.
std::optional<std::uint8_t> timeout_within(std::chrono::nanoseconds limit, unsigned retry_cnt) {
  std::optional<std::uint8_t> found;
  for (unsigned timeout = 1; timeout <= 31 && longest_wait(timeout, retry_cnt) <= limit; ++timeout) {
    found = static_cast<std::uint8_t>(timeout);
  }
  return found;
}
