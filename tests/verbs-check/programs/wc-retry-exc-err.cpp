// A side sends as soon as its own QP is ready, and the QP of the peer is not.
#include "pair.hpp"

int main() {
  Pair pair;
#ifdef CORRECTED
  pair.connect_there();
#else
  lab::to_init(pair.peer, pair.path, IBV_ACCESS_REMOTE_WRITE);  // RTR would have come a moment later
#endif
  pair.connect_here();
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = pair.incoming(), .rkey = pair.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(pair.qp, &request, &bad);  // here: wc-retry-exc-err
  show("ibv_post_send", result);
  show_completion_of(pair.cq.get());
  return 0;
}
