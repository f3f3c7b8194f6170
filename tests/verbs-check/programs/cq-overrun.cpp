// Three writes that each leave a completion, in a CQ of two.
#include "loop.hpp"

#include <thread>

int main() {
  Loop loop;
  constexpr std::uint64_t writes = 3;
#ifdef CORRECTED
  constexpr int entries = 8;  // max_send_wr and max_recv_wr together
#else
  constexpr int entries = 2;
#endif
  const lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(loop.device.context.get(), entries, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr attr{.send_cq = cq.get(),
                        .recv_cq = cq.get(),
                        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp")};
  const lab::Endpoint self = lab::local_endpoint(loop.device, loop.path, qp.get());
  lab::to_init(qp.get(), loop.path, IBV_ACCESS_REMOTE_WRITE);
  lab::to_rtr(qp.get(), loop.path, self);
  lab::to_rts(qp.get(), self.psn);
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  for (request.wr_id = 1; request.wr_id <= writes; ++request.wr_id) {
    const int result = ibv_post_send(qp.get(), &request, &bad);  // here: cq-overrun
    show("ibv_post_send", result);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{500});  // other work, while the completions come
  std::array<ibv_wc, writes> completions{};
  std::printf("%d completions\n", ibv_poll_cq(cq.get(), writes, completions.data()));
  return 0;
}
