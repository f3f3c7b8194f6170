// Two messages; nobody looks at how the first one has ended.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect(0, {.rnr_retry = 0});
#ifdef CORRECTED
  loop.post_receive();
  loop.post_receive();
#endif
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");  // here: wc-rnr-retry-exc-err
  const ibv_wc first = lab::wait_completion(loop.cq.get(), std::chrono::seconds{5}, "the first message");
#ifdef CORRECTED
  lab::check_completion(first);
#else
  std::printf("request %d has ended\n", static_cast<int>(first.wr_id));
#endif
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: error-ignored
  show("ibv_post_send", result);
  loop.show_completion();
#ifdef CORRECTED
  loop.show_completions();
#endif
  return 0;
}
