// The peer was told the rkey of a region of another PD than that of its QP.
// says: the memory region belongs to another PD than the peer's QP
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  const lab::Owned<ibv_pd, ibv_dealloc_pd> other{lab::check(ibv_alloc_pd(loop.device.context.get()), "ibv_alloc_pd")};
  const Loop::Mr far{lab::check(
      ibv_reg_mr(other.get(), loop.memory.data(), loop.memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      "ibv_reg_mr")};
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = far->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-access-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
