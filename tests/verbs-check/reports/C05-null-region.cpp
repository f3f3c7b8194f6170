// A registration is refused, and the program takes the lkey of the region that there is not: it dies of SIGSEGV.
// says: ibv_reg_mr has refused: EINVAL
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
  const ibv_mr* const mr =
      ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_REMOTE_WRITE);  // here: mr-refused
  std::printf("lkey %u\n", mr->lkey);
  return 0;
}
