// The buffer of a send grows, and moves, before the completion was polled.
// says: the memory of a posted send is given back by realloc while a posted request still needs it
#include "../programs/loop.hpp"

#include <cstdlib>

int main() {
  Loop loop;
  loop.connect();
  constexpr std::uint32_t length = 64;
  auto* text = static_cast<char*>(std::calloc(1, length));
  void* const wall = std::malloc(length);  // what stands behind it, so that it cannot grow where it is
  const Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), text, length, 0), "ibv_reg_mr")};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text), .length = length, .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  constexpr std::size_t larger = 1024 * 1024;
  void* const grown = std::realloc(text, larger);  // here: freed-in-flight
  loop.post_receive();
  loop.show_completions();
  std::free(grown);
  std::free(wall);
  return 0;
}
