// Takes memory and processes until there are no more.
// fails: fail
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main() {
  int children = 0;
  while (children < 1000) {
    const pid_t child = fork();
    if (child == -1) {
      break;
    }
    if (child == 0) {
      pause();
      _exit(0);
    }
    ++children;
  }
  std::size_t megabytes = 0;
  constexpr std::size_t megabyte = 1024 * 1024;
  while (megabytes < 4096) {
    void* const block = std::malloc(megabyte);
    if (block == nullptr) {
      break;
    }
    *static_cast<volatile char*>(block) = 1;
    ++megabytes;
  }
  std::fprintf(stderr, "%d children, %zu MiB\n", children, megabytes);
  return children < 100 && megabytes < 1024 ? 1 : 0;
}
