// A constant, registered as if the device had to write to it.
// says: is read-only (a constant, a mapped file)
#include "common/device.hpp"
#include "common/errors.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

constexpr std::array<char, 64> text{"a constant"};

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  ibv_mr* const mr =
      ibv_reg_mr(pd.get(), const_cast<char*>(text.data()), text.size(), IBV_ACCESS_LOCAL_WRITE);  // here: mr-refused
  std::printf("ibv_reg_mr: %s\n", mr != nullptr ? "done" : std::strerror(errno));
  return mr != nullptr && ibv_dereg_mr(mr) == 0 ? 0 : 1;
}
