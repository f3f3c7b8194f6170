// How do I wait for a completion event with a timeout?

#include <infiniband/verbs.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <system_error>

// True: ibv_get_cq_event will return at once. False: nothing came in time. For a CQ that is armed and was polled empty.
bool wait_readable(const ibv_comp_channel* channel, std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd entry{.fd = channel->fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&entry, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready > 0) {
      return true;
    }
    if (ready == 0) {
      return false;
    }
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
  }
}
