// A program with children: the argument says of which kind. The parent itself destroys all that it makes.
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"

#include <infiniband/verbs.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The child of a fork; returns its exit status.
int child(std::string_view kind, const lab::Device& device) {
  ibv_context* const context = device.context.get();
  if (kind == "own") {
    ibv_context* const again = ibv_open_device(context->device);
    if (again == nullptr || ibv_alloc_pd(again) == nullptr) {  // here: own
      return 1;
    }
  } else if (kind == "parents") {
    ibv_cq* const cq = ibv_create_cq(context, 1, nullptr, nullptr, 0);
    return cq != nullptr && ibv_destroy_cq(cq) == 0 ? 0 : 1;
  } else if (kind == "exec") {
    execl("/bin/true", "true", nullptr);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view kind = count > 1 ? words[1] : "exit";
  ibv_fork_init();
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  int status = 1;
  if (kind == "vfork") {
    const pid_t id = vfork();  // NOLINT: what is tested
    if (id == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(1);
    }
    status = wait_for(id);
  } else if (kind == "spawn") {
    std::string name = "true";
    char* arguments[] = {name.data(), nullptr};
    pid_t id = 0;
    if (posix_spawn(&id, "/bin/true", nullptr, nullptr, arguments, environ) == 0) {
      status = wait_for(id);
    }
  } else if (kind == "clean") {  // nobody is watched beyond
    clearenv();
    const std::string self = words[0];
    execl(self.c_str(), self.c_str(), "own", nullptr);
  } else {
    const pid_t id = fork();
    if (id == 0) {
      std::exit(child(kind, device));
    }
    status = wait_for(id);
  }
  std::printf("child: %d\n", status);
  return status;
}
