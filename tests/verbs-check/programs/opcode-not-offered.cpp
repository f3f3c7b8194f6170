// An RDMA write on a UD QP.
#include "ud.hpp"

int main() {
#ifdef CORRECTED
  Loop loop;  // an RC QP
  loop.connect();
#else
  Ud loop;
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: opcode-not-offered
  show("ibv_post_send", result);
  loop.show_completion_or_none();
  return 0;
}
