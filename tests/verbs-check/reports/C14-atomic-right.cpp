// An atomic on memory that the peer may write, and that was registered without the right to atomics.
// says: the memory region was registered without IBV_ACCESS_REMOTE_ATOMIC
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  alignas(8) std::array<char, 16> numbers{};
  const Loop::Mr mr{lab::check(
      ibv_reg_mr(loop.pd.get(), numbers.data(), numbers.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      "ibv_reg_mr")};
  const auto begin = reinterpret_cast<std::uintptr_t>(numbers.data());
  ibv_sge into{.addr = begin, .length = 8, .lkey = mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &into,
                      .num_sge = 1,
                      .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.atomic = {.remote_addr = begin + 8, .compare_add = 1, .rkey = mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-rem-access-err
  show("ibv_post_send", result);
  loop.show_completion();
  return 0;
}
