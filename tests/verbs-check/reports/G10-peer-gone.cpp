// The peer destroys its QP while messages are still on their way to it.
// says: the peer has ended, or has destroyed or reset its QP
#include "../programs/pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  pair.peer_owner.reset();
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
