#include "wait.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

namespace verbs_check {

namespace {

// Holds signals back while it lives, and shows on a descriptor that one has come. poll(2) never goes on after a signal
// handler, as read(2) does where the handler has SA_RESTART: so the handler must be known before it runs.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    for (int signal = 1; signal < NSIG; ++signal) {
      if (sigismember(&before_, signal) == 1) {
        sigdelset(&all, signal);
      }
    }
    watched_ = all;
    descriptor_ = signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  // What has come is delivered here.
  ~HeldSignals() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Whether one that has come interrupts a read(2).
  [[nodiscard]] bool interrupt() const {
    sigset_t pending;
    sigpending(&pending);
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action {};
      if (sigismember(&pending, signal) == 1 && sigismember(&watched_, signal) == 1 &&
          sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_RESTART) == 0 &&
          action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
        return true;
      }
    }
    return false;
  }

private:
  sigset_t before_{};
  sigset_t watched_{};
  int descriptor_ = -1;
};

}  // namespace

Wait wait_readable(int descriptor, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const HeldSignals signals;
    std::array<pollfd, 2> descriptors{pollfd{.fd = descriptor, .events = POLLIN},
                                      pollfd{.fd = signals.descriptor(), .events = POLLIN}};
    const int found =
        poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (found < 0 && errno != EINTR) {
      return Wait::ready;  // the verb will say what is wrong with the descriptor
    }
    if (found > 0 && descriptors[0].revents != 0) {
      return Wait::ready;
    }
    if (found > 0 && signals.interrupt()) {
      return Wait::interrupted;
    }
    if (found == 0) {
      return Wait::too_long;
    }
  }
}

bool is_blocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

bool is_single_threaded() { return __libc_single_threaded != 0; }

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds{10}); }

}  // namespace verbs_check
