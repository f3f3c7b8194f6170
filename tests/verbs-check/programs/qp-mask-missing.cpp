// An attribute is set, and its bit in the mask is forgotten.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
  attr.min_rnr_timer = 12;
#ifdef CORRECTED
  const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
#else
  const int mask =
      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, mask);  // here: qp-mask-missing
  return outcome(result);
}
