// A buffer of 64 bytes is sent, and only 48 of them are registered.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  loop.post_receive();
  std::array<char, 64> text{};
#ifdef CORRECTED
  const std::size_t registered = text.size();
#else
  const std::size_t registered = 48;
#endif
  const Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), text.data(), registered, 0), "ibv_reg_mr")};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size(), .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: sge-outside-mr
  show("ibv_post_send", result);
  loop.show_completions();
  return 0;
}
