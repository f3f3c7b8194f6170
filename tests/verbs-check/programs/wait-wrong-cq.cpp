// A QP with two CQs; the completion of a write is waited for in that of the receives.
// run: --patience 0.5
#include "waiting.hpp"

int main() {
  Loop loop;
  const lab::Owned<ibv_cq, ibv_destroy_cq> receives{
      lab::check(ibv_create_cq(loop.device.context.get(), 16, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr attr{.send_cq = loop.cq.get(),
                        .recv_cq = receives.get(),
                        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp")};
  loop.qp = qp.get();
  loop.connect();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
#ifdef CORRECTED
  ibv_cq* const cq = loop.cq.get();
#else
  ibv_cq* const cq = receives.get();
#endif
  const lab::Deadline deadline{patience};
  ibv_wc completion{};
  int found = 0;
  while (found == 0 && !deadline.passed()) {
    found = ibv_poll_cq(cq, 1, &completion);  // here: wait-wrong-cq
  }
  std::printf("completion: %s\n", found == 0 ? "none" : lab::status_text(completion.status).c_str());
  return 0;
}
