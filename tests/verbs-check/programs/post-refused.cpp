// A receive is posted on a QP that has a shared receive queue.
#include "loop.hpp"

int main() {
  const Loop loop;
  ibv_srq_init_attr srq_attr{.attr = {.max_wr = 4, .max_sge = 1}};
  const lab::Owned<ibv_srq, ibv_destroy_srq> srq{
      lab::check(ibv_create_srq(loop.pd.get(), &srq_attr), "ibv_create_srq")};
  ibv_qp_init_attr attr{.send_cq = loop.cq.get(),
                        .recv_cq = loop.cq.get(),
                        .srq = srq.get(),
                        .cap = {.max_send_wr = 4, .max_send_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp")};
  lab::to_init(qp.get(), loop.path);
  ibv_sge where{.addr = loop.incoming(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_recv_wr request{.wr_id = 1, .sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
#ifdef CORRECTED
  const int result = ibv_post_srq_recv(srq.get(), &request, &bad);
#else
  const int result = ibv_post_recv(qp.get(), &request, &bad);  // here: post-refused
#endif
  show("the receive", result);
  return 0;
}
