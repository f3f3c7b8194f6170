// A memory region is deregistered as soon as the send from it is posted.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  std::array<char, 64> text{};
  Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), text.data(), text.size(), 0), "ibv_reg_mr")};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size(), .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
#ifdef CORRECTED
  loop.post_receive();  // the peer is late: until now the device has tried again and again
  loop.show_completions();
#endif
  const int result = ibv_dereg_mr(mr.release());  // here: dereg-in-flight
  show("ibv_dereg_mr", result);
#ifndef CORRECTED
  loop.post_receive();
  loop.show_completions();
#endif
  return 0;
}
