// The QP allows RDMA writes, and the memory of the peer was registered for its own use only.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  std::array<char, 64> target{};
#ifdef CORRECTED
  const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
#else
  const unsigned access = IBV_ACCESS_LOCAL_WRITE;
#endif
  const Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), target.data(), target.size(), access), "ibv_reg_mr")};
  ibv_sge from{.addr = loop.outgoing(), .length = target.size(), .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 1,
      .sg_list = &from,
      .num_sge = 1,
      .opcode = IBV_WR_RDMA_WRITE,
      .send_flags = IBV_SEND_SIGNALED,
      .wr = {.rdma = {.remote_addr = reinterpret_cast<std::uintptr_t>(target.data()), .rkey = mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-access-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
