// A message is longer than the receive of the peer; seen by the side that sends.
#include "pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  ibv_sge to{.addr = pair.incoming(), .length = 32, .lkey = pair.mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  show("ibv_post_recv", ibv_post_recv(pair.peer, &receive, &bad_receive));
#ifdef CORRECTED
  const std::uint32_t length = 32;  // what both sides have agreed on
#else
  const std::uint32_t length = pair.half;
#endif
  ibv_sge from{.addr = pair.outgoing(), .length = length, .lkey = pair.mr->lkey};
  ibv_send_wr send{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad_send = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &send, &bad_send));  // here: wc-rem-op-err
  show_completion_of(pair.cq.get());
  show_completion_of(pair.peer_cq.get());
  return 0;
}
