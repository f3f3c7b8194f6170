// A counter that stands at an odd place of a packed structure, and an atomic on it.
#include "loop.hpp"

#ifdef CORRECTED
struct Shared {
  std::uint32_t version = 1;
  alignas(8) std::uint64_t counter = 0;
};
#else
struct [[gnu::packed]] Shared {
  std::uint32_t version = 1;
  std::uint64_t counter = 0;
};
#endif

int main() {
  Loop loop;
  loop.connect(IBV_ACCESS_REMOTE_ATOMIC);
  alignas(8) Shared shared;
  const Loop::Mr shared_mr{
      lab::check(ibv_reg_mr(loop.pd.get(), &shared, sizeof shared, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC),
                 "ibv_reg_mr")};
  alignas(8) std::uint64_t before = 0;
  const Loop::Mr before_mr{
      lab::check(ibv_reg_mr(loop.pd.get(), &before, sizeof before, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  ibv_sge into{.addr = reinterpret_cast<std::uintptr_t>(&before), .length = sizeof before, .lkey = before_mr->lkey};
  ibv_send_wr request{
      .wr_id = 2,
      .sg_list = &into,
      .num_sge = 1,
      .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
      .send_flags = IBV_SEND_SIGNALED,
      .wr = {.atomic = {.remote_addr = reinterpret_cast<std::uintptr_t>(&shared) + offsetof(Shared, counter),
                        .compare_add = 1,
                        .rkey = shared_mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: atomic-misaligned
  show("ibv_post_send", result);
  loop.show_completion_or_none();
  return 0;
}
