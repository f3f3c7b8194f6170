// A header and a payload in two SGEs, on a QP that was asked for one.
#include "loop.hpp"

int main() {
  Loop loop;
#ifdef CORRECTED
  ibv_qp_init_attr attr{.send_cq = loop.cq.get(),
                        .recv_cq = loop.cq.get(),
                        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  loop.use(lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp"));
#endif
  loop.connect();
  loop.post_receive();
  std::array<ibv_sge, 2> parts{{{.addr = loop.outgoing(), .length = 16, .lkey = loop.mr->lkey},
                                {.addr = loop.outgoing() + 32, .length = 16, .lkey = loop.mr->lkey}}};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = parts.data(), .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: sge-too-many
  show("ibv_post_send", result);
  if (result == 0) {
    loop.show_completions();
  }
  return 0;
}
