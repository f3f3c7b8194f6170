// The rkey comes in network byte order, and nobody turns it.
// says: the bytes of the rkey
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = __builtin_bswap32(loop.mr->rkey)}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-access-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
