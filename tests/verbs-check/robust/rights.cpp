// Gives up what the checker may rely on - the file system, the rights, the descriptors - and then makes a mistake.
#include "common/device.hpp"
#include "common/errors.hpp"

#include <infiniband/verbs.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const lab::Device device = lab::open_device({});
  ibv_pd* const pd = lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd");
  int failed = 0;
  if (what == "chroot") {
    failed = chroot("/run") | chdir("/");
  } else if (what == "setuid") {
    failed = setgid(65534) | setuid(65534);
  } else if (what == "descriptors") {
    const rlimit limit{.rlim_cur = 6, .rlim_max = 6};
    failed = setrlimit(RLIMIT_NOFILE, &limit);
  } else if (what == "closed") {
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
      if (descriptor != device.context->cmd_fd && descriptor != device.context->async_fd) {
        close(descriptor);
      }
    }
  }
  char memory[64]{};
  if (failed != 0 || ibv_reg_mr(pd, memory, sizeof memory, 0) == nullptr) {
    std::perror("rights");
    return 1;
  }
  return ibv_dealloc_pd(pd) == 0 ? 1 : 0;  // here: busy
}
