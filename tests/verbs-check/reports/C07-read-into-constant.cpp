// An RDMA read into memory that the device may not write to: a read needs LOCAL_WRITE here and REMOTE_READ there.
// says: for a receive, and for the local side of an RDMA read
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect(IBV_ACCESS_REMOTE_READ);
  std::array<char, 64> text{};
  const Loop::Mr sink{lab::check(ibv_reg_mr(loop.pd.get(), text.data(), text.size(), 0), "ibv_reg_mr")};
  const Loop::Mr far{lab::check(
      ibv_reg_mr(loop.pd.get(), loop.memory.data(), loop.memory.size(), IBV_ACCESS_REMOTE_READ), "ibv_reg_mr")};
  ibv_sge into{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size(), .lkey = sink->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &into,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_READ,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.outgoing(), .rkey = far->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: mr-not-writable
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
