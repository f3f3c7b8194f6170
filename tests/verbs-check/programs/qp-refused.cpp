// A queue pair with queues that are longer than the device offers.
#include "common/device.hpp"
#include "common/errors.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 16, nullptr, nullptr, 0), "ibv_create_cq")};
#ifdef CORRECTED
  const std::uint32_t depth = 64;
#else
  const std::uint32_t depth = 1U << 24U;
#endif
  ibv_qp_init_attr attr{.send_cq = cq.get(),
                        .recv_cq = cq.get(),
                        .cap = {.max_send_wr = depth, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  ibv_qp* const qp = ibv_create_qp(pd.get(), &attr);  // here: qp-refused
  std::printf("ibv_create_qp: %s\n", qp != nullptr ? "done" : std::strerror(errno));
  return qp != nullptr && ibv_destroy_qp(qp) == 0 ? 0 : 1;
}
