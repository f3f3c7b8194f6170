// Memory is unmapped, and sent from afterwards: its region was not deregistered.
#include "loop.hpp"

#include <sys/mman.h>

int main() {
  Loop loop;
  loop.connect();
  constexpr std::uint32_t length = 4096;
  void* const buffer = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), buffer, length, 0), "ibv_reg_mr")};
#ifndef CORRECTED
  munmap(buffer, length);
#endif
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(buffer), .length = 64, .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  loop.post_receive();
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: freed-before-post
  show("ibv_post_send", result);
  loop.show_completions();
#ifdef CORRECTED
  mr.reset();
  munmap(buffer, length);
#endif
  return 0;
}
