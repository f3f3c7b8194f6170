// The lkey was forgotten: the SGE has 0 in its place.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  loop.post_receive();
#ifdef CORRECTED
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
#else
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half};
#endif
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: lkey-unknown
  show("ibv_post_send", result);
  loop.show_completions();
  return 0;
}
