// The rkey of the memory region stands in the SGE where the lkey belongs. Soft-RoCE gives both the same number.
// run wrong: --fail-completion 1=LOC_PROT_ERR
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
#ifdef CORRECTED
  const std::uint32_t key = loop.mr->lkey;
#else
  const std::uint32_t key = loop.mr->rkey;
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = key};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-loc-prot-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
