// The memory of a message is freed as soon as the send is posted.
#include "loop.hpp"

#include <cstdlib>

int main() {
  Loop loop;
  loop.connect();
  constexpr std::uint32_t length = 64;
  auto* const text = static_cast<char*>(std::calloc(1, length));
  Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), text, length, 0), "ibv_reg_mr")};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text), .length = length, .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
#ifdef CORRECTED
  loop.post_receive();  // the peer is late: until now the device has tried again and again
  loop.show_completions();
  mr.reset();
#endif
  std::free(text);  // here: freed-in-flight
#ifndef CORRECTED
  loop.post_receive();
  loop.show_completions();
#endif
  return 0;
}
