// Runs one command on a testbed host for one ssh session: session FOLDER COMMAND [ARGUMENT...]
//
// The command gets a process group of its own, and its exit status is passed on as a shell would (128 + signal).
// When the session ends first, however the other side died, the kernel tells (the ssh server's process for it is this
// one's parent), and the whole group is ended: INT, a second later TERM, a second later KILL.
// Statically linked: it is on every command's way, and loading libraries over 9p costs more than all that it does.

#include "stale.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace {

void end_group(pid_t group) {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    kill(-group, signal);
    for (int tenths = 0; tenths < 10; ++tenths) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (kill(-group, 0) != 0) return;
      const timespec tenth{0, 100'000'000};
      sigtimedwait(&child_ended, nullptr, &tenth);
    }
  }
}

[[noreturn]] void run(const char* folder, char** command) {
  const char* checkout = getenv("LAB_ROOT");
  if (chdir(folder) != 0 && (checkout == nullptr || chdir(checkout) != 0)) {
    fprintf(stderr, "lab: %s: %s\n", folder, strerror(errno));
    _exit(126);
  }
  execvp(command[0], command);
  fprintf(stderr, "lab: %s: %s\n", command[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  sigset_t awaited, before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGHUP);
  sigaddset(&awaited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() == 1) return 129;  // it died before the kernel was asked to tell

  close(open("/run/lab/used", O_WRONLY | O_CREAT | O_TRUNC, 0644));  // the host is in use

  const char* checkout = getenv("LAB_ROOT");
  if (checkout != nullptr && !replace_stale(checkout)) return 126;

  const pid_t child = fork();
  if (child < 0) {
    perror("lab: fork");
    return 126;
  }
  if (child == 0) {
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    run(argv[1], argv + 2);
  }
  setpgid(child, child);  // both sides, so that it is done whichever runs first

  // Only the command holds the session's streams.
  const int null = open("/dev/null", O_RDWR);
  for (int stream : {0, 1, 2}) dup2(null, stream);

  for (;;) {
    int signal = 0;
    sigwait(&awaited, &signal);
    if (signal == SIGHUP) {
      end_group(child);
      return 129;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child) continue;
    kill(-child, SIGHUP);  // what it left in the background, as the end of a terminal would
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}
