// Memory that the peer shall write, registered with the right of the peer alone.
#include "common/device.hpp"
#include "common/errors.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  std::array<char, 64> memory{};
#ifdef CORRECTED
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
#else
  const int access = IBV_ACCESS_REMOTE_WRITE;
#endif
  ibv_mr* const mr = ibv_reg_mr(pd.get(), memory.data(), memory.size(), access);  // here: mr-refused
  std::printf("ibv_reg_mr: %s\n", mr != nullptr ? "done" : std::strerror(errno));
  return mr != nullptr && ibv_dereg_mr(mr) == 0 ? 0 : 1;
}
