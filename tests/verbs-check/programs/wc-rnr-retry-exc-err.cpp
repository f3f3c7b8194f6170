// A message comes before the peer has posted a receive for it.
#include "pair.hpp"

int main() {
  Pair pair;
  pair.connect_there();
#ifdef CORRECTED
  ibv_sge to{.addr = pair.incoming(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  lab::check_errno(ibv_post_recv(pair.peer, &receive, &bad_receive), "ibv_post_recv");
#endif
  pair.connect_here();
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr send{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad_send = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &send, &bad_send));  // here: wc-rnr-retry-exc-err
  show_completion_of(pair.cq.get());
  return 0;
}
