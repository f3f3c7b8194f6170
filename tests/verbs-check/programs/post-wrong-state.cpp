// A message is posted while the QP is in INIT still.
#include "loop.hpp"

int main() {
  Loop loop;
#ifdef CORRECTED
  loop.connect();
#else
  lab::to_init(loop.qp, loop.path);
#endif
  loop.post_receive();  // this is allowed from INIT on
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: post-wrong-state
  show("ibv_post_send", result);
#ifdef CORRECTED
  loop.show_completions();
#endif
  return 0;
}
