// Inline data on a QP that was made without room for it.
#include "loop.hpp"

int main() {
  Loop loop;
#ifdef CORRECTED
  ibv_qp_init_attr attr{
      .send_cq = loop.cq.get(),
      .recv_cq = loop.cq.get(),
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64},
      .qp_type = IBV_QPT_RC};
  loop.use(lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp"));
#endif
  loop.connect();
  loop.post_receive();
  std::array<char, 64> text{};
  ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(text.data()), .length = text.size()};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_SEND,
                      .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: inline-too-long
  show("ibv_post_send", result);
  if (result == 0) {
    loop.show_completions();
  }
  return 0;
}
