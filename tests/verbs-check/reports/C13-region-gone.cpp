// The peer has deregistered its memory while it is still written to.
// says: no memory region has the rkey
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  Loop::Mr gone{lab::check(ibv_reg_mr(loop.pd.get(), loop.memory.data(), loop.memory.size(),
                                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                           "ibv_reg_mr")};
  const std::uint32_t told = gone->rkey;
  gone.reset();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = told}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-access-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
