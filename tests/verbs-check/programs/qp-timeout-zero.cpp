// The timeout is left at 0.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
  lab::check_errno(ibv_modify_qp(f.qp, &attr, f.rtr_mask), "ibv_modify_qp");
  attr = {.qp_state = IBV_QPS_RTS, .sq_psn = 0x000100, .max_rd_atomic = 1, .retry_cnt = 6, .rnr_retry = 6};
#ifdef CORRECTED
  attr.timeout = 14;
#endif
  const int mask =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  const int result = ibv_modify_qp(f.qp, &attr, mask);  // here: qp-timeout-zero
  return outcome(result);
}
