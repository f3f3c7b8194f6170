// A shared receive queue that is longer than the device offers.
#include "common/device.hpp"
#include "common/errors.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
#ifdef CORRECTED
  const std::uint32_t depth = 1024;
#else
  const std::uint32_t depth = 1U << 24U;
#endif
  ibv_srq_init_attr attr{.attr = {.max_wr = depth, .max_sge = 1}};
  ibv_srq* const srq = ibv_create_srq(pd.get(), &attr);  // here: srq-refused
  std::printf("ibv_create_srq: %s\n", srq != nullptr ? "done" : std::strerror(errno));
  return srq != nullptr && ibv_destroy_srq(srq) == 0 ? 0 : 1;
}
