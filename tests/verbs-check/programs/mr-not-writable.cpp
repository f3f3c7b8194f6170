// A message is received into memory that was registered for reading only.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  std::array<char, 64> text{};
#ifdef CORRECTED
  const int access = IBV_ACCESS_LOCAL_WRITE;
#else
  const int access = 0;
#endif
  const Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), text.data(), text.size(), access), "ibv_reg_mr")};
  ibv_sge into{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size(), .lkey = mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &into, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  const int result = ibv_post_recv(loop.qp, &receive, &bad_receive);  // here: mr-not-writable
  show("ibv_post_recv", result);

  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  show("ibv_post_send", ibv_post_send(loop.qp, &request, &bad));
  loop.show_completions();
  return 0;
}
