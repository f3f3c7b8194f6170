// An RDMA write without IBV_SEND_SIGNALED, and its completion is waited for.
// run: --patience 0.5
#include "waiting.hpp"

int main() {
  Loop loop;
  loop.connect();
#ifdef CORRECTED
  const unsigned flags = IBV_SEND_SIGNALED;
#else
  const unsigned flags = 0;
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = flags,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  const lab::Deadline deadline{patience};
  ibv_wc completion{};
  int found = 0;
  while (found == 0 && !deadline.passed()) {
    found = ibv_poll_cq(loop.cq.get(), 1, &completion);  // here: wait-unsignalled
  }
  std::printf("completion: %s\n", found == 0 ? "none" : lab::status_text(completion.status).c_str());
  return 0;
}
