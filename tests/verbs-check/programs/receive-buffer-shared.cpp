// Two receives into the same memory, and two messages.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  constexpr std::uint32_t length = 32;
  for (std::uint32_t i = 0; i < 2; ++i) {
#ifdef CORRECTED
    ibv_sge where{.addr = loop.incoming() + i * length, .length = length, .lkey = loop.mr->lkey};
#else
    ibv_sge where{.addr = loop.incoming(), .length = length, .lkey = loop.mr->lkey};
#endif
    ibv_recv_wr request{.wr_id = i, .sg_list = &where, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    const int result = ibv_post_recv(loop.qp, &request, &bad);  // here: receive-buffer-shared
    show("ibv_post_recv", result);
  }
  std::strcpy(loop.memory.data(), "first");
  std::strcpy(loop.memory.data() + length, "second");
  for (std::uint32_t i = 0; i < 2; ++i) {
    ibv_sge from{.addr = loop.outgoing() + i * length, .length = length, .lkey = loop.mr->lkey};
    ibv_send_wr request{
        .wr_id = 2 + i, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  }
  loop.show_completions();
  loop.show_completions();
  std::printf("in the memory of the first: %s\n", loop.memory.data() + loop.half);
  return 0;
}
