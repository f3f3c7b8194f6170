// The peer was told the lkey of a memory region, where it needs the rkey.
// run: --strict
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
#ifdef CORRECTED
  const std::uint32_t told = loop.mr->rkey;
#else
  const std::uint32_t told = loop.mr->lkey;
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = told}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: rkey-is-lkey
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
