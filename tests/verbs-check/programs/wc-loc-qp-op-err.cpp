// A receive has no room for the message that comes; seen by the side that receives.
#include "pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
#ifdef CORRECTED
  const std::uint32_t room = pair.half;
#else
  const std::uint32_t room = 48;  // without the header of the message
#endif
  ibv_sge to{.addr = pair.incoming(), .length = room, .lkey = pair.mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  show("ibv_post_recv", ibv_post_recv(pair.peer, &receive, &bad_receive));  // here: wc-loc-qp-op-err
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr send{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad_send = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &send, &bad_send));
  show_completion_of(pair.peer_cq.get());
  show_completion_of(pair.cq.get());
  return 0;
}
