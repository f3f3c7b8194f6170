// A receive is posted and waited for, and the QP is never brought beyond INIT.
// run: --patience 0.5
#include "waiting.hpp"

int main() {
  Loop loop;
#ifdef CORRECTED
  loop.connect();
#else
  lab::to_init(loop.qp, loop.path);
#endif
  loop.post_receive();
#ifdef CORRECTED
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = 0};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
#endif
  const lab::Deadline deadline{patience};
  ibv_wc completion{};
  int found = 0;
  while (found == 0 && !deadline.passed()) {
    found = ibv_poll_cq(loop.cq.get(), 1, &completion);  // here: wait-not-connected
  }
  std::printf("completion: %s\n", found == 0 ? "none" : lab::status_text(completion.status).c_str());
  return 0;
}
