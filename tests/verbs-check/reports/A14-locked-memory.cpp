// An ordinary user registers more than may be locked.
// says: the process may lock 65536 bytes (RLIMIT_MEMLOCK)
// says: a changed limits.conf holds from the next login on
#include "common/device.hpp"
#include "common/errors.hpp"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

// An ordinary user's limit, and an ordinary user's rights: root may lock what it likes.
void become_ordinary() {
  const rlimit limit{.rlim_cur = 65536, .rlim_max = 65536};
  lab::check_minus_one(setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  lab::check_minus_one(static_cast<int>(syscall(SYS_capset, &header, none.data())), "capset");
}

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  become_ordinary();
  std::vector<char> memory(1U << 20U);
  ibv_mr* const mr = ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);  // here: mr-refused
  std::printf("ibv_reg_mr: %s\n", mr != nullptr ? "done" : std::strerror(errno));
  return mr != nullptr && ibv_dereg_mr(mr) == 0 ? 0 : 1;
}
