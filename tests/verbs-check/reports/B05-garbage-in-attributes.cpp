// The attributes of a QP on memory that was used before, and one of them is never set: max_inline_data.
// says: a field that was never set: zero the structure before filling it
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
  ibv_qp_init_attr attr;
  std::memset(&attr, 0xa5, sizeof attr);  // whatever was there before
  attr.qp_context = nullptr;
  attr.send_cq = cq.get();
  attr.recv_cq = cq.get();
  attr.srq = nullptr;
  attr.cap.max_send_wr = 16;
  attr.cap.max_recv_wr = 16;
  attr.cap.max_send_sge = 1;
  attr.cap.max_recv_sge = 1;
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 0;
  ibv_qp* const qp = ibv_create_qp(pd.get(), &attr);  // here: qp-refused
  std::printf("ibv_create_qp: %s\n", qp != nullptr ? "done" : std::strerror(errno));
  return qp != nullptr && ibv_destroy_qp(qp) == 0 ? 0 : 1;
}
