// A completion is taken for that of a send or a receive by its opcode, and it is a flushed one.
// says: not its opcode
#include "../programs/pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  ibv_sge to{.addr = pair.incoming(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  show("ibv_post_recv", ibv_post_recv(pair.peer, &receive, &bad_receive));  // here: wc-flush-err
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr write{.wr_id = 2,
                    .sg_list = &from,
                    .num_sge = 1,
                    .opcode = IBV_WR_RDMA_WRITE,
                    .wr = {.rdma = {.remote_addr = pair.incoming() + 8, .rkey = pair.mr->rkey}}};  // 8 bytes too far
  ibv_send_wr* bad = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &write, &bad));
  const ibv_wc completion = lab::wait_completion(pair.peer_cq.get(), std::chrono::seconds{10}, "a completion");
  std::printf("%s has ended\n", (completion.opcode & IBV_WC_RECV) != 0 ? "the receive" : "a send");
  return 0;
}
