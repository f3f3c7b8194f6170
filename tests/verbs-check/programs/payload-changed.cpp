// The memory of a message is used for the next one while the first is still under way.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  std::strcpy(loop.memory.data(), "first");
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: payload-changed
  show("ibv_post_send", result);
#ifndef CORRECTED
  std::strcpy(loop.memory.data(), "second");
#endif
  loop.post_receive();  // the peer is late: until now the device has tried again and again
  loop.show_completions();
#ifdef CORRECTED
  std::strcpy(loop.memory.data(), "second");
#endif
  std::printf("arrived: %s\n", loop.memory.data() + loop.half);
  return 0;
}
