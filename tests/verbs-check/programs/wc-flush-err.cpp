// An RDMA write goes wrong, and the side that waits for the message behind it is told of a flushed receive only.
#include "pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  ibv_sge to{.addr = pair.incoming(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  show("ibv_post_recv", ibv_post_recv(pair.peer, &receive, &bad_receive));  // here: wc-flush-err
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr message{.wr_id = 3, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
  ibv_send_wr write{
      .wr_id = 2, .next = &message, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .wr = {}};
#ifdef CORRECTED
  write.wr.rdma = {.remote_addr = pair.incoming(), .rkey = pair.mr->rkey};
#else
  write.wr.rdma = {.remote_addr = pair.incoming() + 8, .rkey = pair.mr->rkey};  // 8 bytes beyond the end
#endif
  ibv_send_wr* bad_send = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &write, &bad_send));
  show_completion_of(pair.peer_cq.get());
  return 0;
}
