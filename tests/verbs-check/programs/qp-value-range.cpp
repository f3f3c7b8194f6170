// Twenty retries, in a field of three bits.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr to_rtr = f.rtr();
  lab::check_errno(ibv_modify_qp(f.qp, &to_rtr, f.rtr_mask), "ibv_modify_qp");
#ifdef CORRECTED
  const std::uint8_t retry_cnt = 7;  // the most that there is
#else
  const std::uint8_t retry_cnt = 20;
#endif
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                   .sq_psn = 0x000100,
                   .max_rd_atomic = 1,
                   .timeout = 14,
                   .retry_cnt = retry_cnt,
                   .rnr_retry = 7};
  const int mask =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  const int result = ibv_modify_qp(f.qp, &attr, mask);  // here: qp-value-range
  return outcome(result);
}
