#include "say.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace verbs_check {

namespace {

bool was_closed = false;

}  // namespace

void say_prepare() { was_closed = fcntl(STDERR_FILENO, F_GETFD) < 0; }

void say(std::string_view text) {
  if (was_closed) {
    return;
  }
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
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
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
}

}  // namespace verbs_check
