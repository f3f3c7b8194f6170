// An RDMA read, on a QP that was brought to RTS with a max_rd_atomic of 0.
#include "loop.hpp"

int main() {
  Loop loop;
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                   .sq_psn = loop.to_rtr(IBV_ACCESS_REMOTE_READ).psn,
#ifdef CORRECTED
                   .max_rd_atomic = 1,
#endif
                   .timeout = 14,
                   .retry_cnt = 7,
                   .rnr_retry = 7};
  lab::check_errno(ibv_modify_qp(loop.qp, &attr,
                                 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                     IBV_QP_MAX_QP_RD_ATOMIC),
                   "ibv_modify_qp");
  const Loop::Mr far{lab::check(ibv_reg_mr(loop.pd.get(), loop.memory.data(), loop.memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
                                "ibv_reg_mr")};
  ibv_sge into{.addr = loop.incoming(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 2,
                      .sg_list = &into,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_READ,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.outgoing(), .rkey = far->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: rd-atomic-zero
  show("ibv_post_send", result);
  loop.show_completion_or_none();
  return 0;
}
