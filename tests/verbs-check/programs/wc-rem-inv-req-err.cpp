// The memory region may be written by the peer, and the QP does not allow it.
#include "loop.hpp"

int main() {
  Loop loop;
#ifdef CORRECTED
  const unsigned access = IBV_ACCESS_REMOTE_WRITE;
#else
  const unsigned access = 0;
#endif
  const lab::Endpoint self = lab::local_endpoint(loop.device, loop.path, loop.qp);
  lab::to_init(loop.qp, loop.path, access);
  lab::to_rtr(loop.qp, loop.path, self);
  lab::to_rts(loop.qp, self.psn);
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-inv-req-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
