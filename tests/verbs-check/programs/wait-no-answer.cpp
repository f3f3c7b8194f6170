// A message to a peer that has posted no receive, and no limit to the retries.
// run: --patience 0.5
#include "waiting.hpp"

int main() {
  Loop loop;
  loop.connect();
#ifdef CORRECTED
  loop.post_receive();
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  const lab::Deadline deadline{patience};
  ibv_wc completion{};
  int found = 0;
  while (found == 0 && !deadline.passed()) {
    found = ibv_poll_cq(loop.cq.get(), 1, &completion);  // here: wait-no-answer
  }
  std::printf("completion: %s\n", found == 0 ? "none" : lab::status_text(completion.status).c_str());
  return 0;
}
