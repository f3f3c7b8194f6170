// The memory is registered in another PD than that of the QP.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  loop.post_receive();
#ifdef CORRECTED
  ibv_pd* const pd = loop.pd.get();
#else
  const lab::Owned<ibv_pd, ibv_dealloc_pd> other{lab::check(ibv_alloc_pd(loop.device.context.get()), "ibv_alloc_pd")};
  ibv_pd* const pd = other.get();
#endif
  std::array<char, 64> text{};
  const Loop::Mr mr{lab::check(ibv_reg_mr(pd, text.data(), text.size(), 0), "ibv_reg_mr")};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size(), .lkey = mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: lkey-other-pd
  show("ibv_post_send", result);
  loop.show_completions();
  return 0;
}
