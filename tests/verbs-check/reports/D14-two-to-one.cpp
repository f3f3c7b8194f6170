// Two QPs are connected to the same QP of the peer, which knows the first of them only.
// says: the QP at the other end is connected to another QP, not to this one
#include "../programs/pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  const lab::Owned<ibv_qp, ibv_destroy_qp> second{pair.make_qp()};
  lab::to_init(second.get(), pair.path);
  lab::to_rtr(second.get(), pair.path, pair.there);
  lab::to_rts(second.get(), pair.here.psn, {.timeout = 8, .retry_cnt = 3, .rnr_retry = 3});
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = pair.incoming(), .rkey = pair.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(second.get(), &request, &bad);  // here: wc-retry-exc-err
  show("ibv_post_send", result);
  show_completion_of(pair.cq.get());
  return 0;
}
