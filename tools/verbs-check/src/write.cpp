#include "write.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace verbs_check {

bool write_all(int descriptor, std::string_view text) {
  const int left_in_errno = errno;
  sigset_t pipe;
  sigset_t before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigset_t pending;
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  bool is_broken = false;
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      is_broken = errno == EPIPE;
      break;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (is_broken && sigismember(&pending, SIGPIPE) == 0) {  // ours, not the program's
    const timespec now{};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = left_in_errno;
  return text.empty();
}

}  // namespace verbs_check
