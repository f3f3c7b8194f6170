// The ways in which a process begins and ends, and the checker's part in each.
#include "checker.hpp"
#include "real.hpp"
#include "say.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace verbs_check;

namespace {

// What still lives, the summary, the exit status. Once, also where two threads call exit.
void finish() {
  static std::atomic_flag finished;
  if (finished.test_and_set()) {
    return;
  }
  if (const int status = Checker::get().finish(); status != 0) {
    std::fflush(nullptr);
    _exit(status);
  }
}

// The program is about to die of a signal: what was found is summed up, and it dies of the same signal. Nothing here
// allocates, for it may have died inside malloc. Objects that live are no leaks then.
void at_fatal_signal(int signal, siginfo_t* info, void* /*context*/) {
  const int left_in_errno = errno;
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  Checker::get().summarize_if_free();
  errno = left_in_errno;
  if (info->si_code <= 0) {  // somebody has sent it: the faulty instruction is not there to raise it again
    raise(signal);
  }
}

// Only where nobody else cares: a program's own handlers, set before or after, stay.
void watch_signal(int signal) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) {
    struct sigaction ours {};
    ours.sa_sigaction = at_fatal_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &ours, nullptr);
  }
}

// A lock that another thread holds while this one forks would never be released in the child.
thread_local bool forks_inside = false;

void before_fork() {
  forks_inside = Mutex::is_held_here();  // from a signal handler
  if (!forks_inside) {
    Checker::get().flush_trace();  // or the child would write it once more
    Checker::get().mutex.lock();
  }
}

void after_fork() {
  if (!forks_inside) {
    Checker::get().mutex.unlock();
  }
}

void after_fork_in_child() {
  Checker::get().forget_parent();
  after_fork();
}

// Before main: settings that make no sense end the program before it has done anything.
__attribute__((constructor)) void at_start() {
  say_prepare();
  Checker::get();
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
  std::at_quick_exit(finish);
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS}) {
    watch_signal(signal);
  }
}

// After the program's own destructors: what lives now, nobody will destroy.
__attribute__((destructor)) void at_exit() { finish(); }

}  // namespace

// The way out without any clean-up: nothing is said, but the trace is whole.
extern "C" void _exit(int status) {
  if (Checker* const checker = Checker::get_if_made(); checker != nullptr && !Mutex::is_held_here()) {
    checker->flush_trace();
  }
  verbs_check::real<void(int)>("_exit")(status);
  __builtin_unreachable();
}
