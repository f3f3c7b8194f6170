// How do I exchange addresses over TCP?

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <system_error>

// Sends `mine` and receives as many bytes as `theirs` has, on a connected TCP socket; the peer does the same.
void exchange(int socket, std::span<const std::byte> mine, std::span<std::byte> theirs,
              std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  while (!mine.empty() || !theirs.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto wanted = static_cast<short>((mine.empty() ? 0 : POLLOUT) | (theirs.empty() ? 0 : POLLIN));
    pollfd entry{.fd = socket, .events = wanted, .revents = 0};
    const int ready = left.count() <= 0 ? 0 : poll(&entry, 1, static_cast<int>(left.count()));
    if (ready == 0) {
      throw std::runtime_error("the peer is silent");
    }
    // MSG_NOSIGNAL: a peer that is gone shall be an error here, not a SIGPIPE.
    ssize_t count = ready;
    if (ready > 0 && !mine.empty() && (entry.revents & POLLIN) == 0) {
      count = send(socket, mine.data(), mine.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      mine = mine.subspan(static_cast<std::size_t>(count > 0 ? count : 0));
    } else if (ready > 0) {
      count = recv(socket, theirs.data(), theirs.size(), MSG_DONTWAIT);
      theirs = theirs.subspan(static_cast<std::size_t>(count > 0 ? count : 0));
      if (count == 0) {
        throw std::runtime_error("the peer has closed the connection: look for the first error on its side");
      }
    }
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      throw std::system_error(errno, std::generic_category(), "exchange");
    }
  }
}
