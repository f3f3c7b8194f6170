// The timeout belongs to the step to RTS, and is given in the step to RTR.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifdef CORRECTED
  const int mask = f.rtr_mask;
#else
  attr.timeout = 14;
  const int mask = f.rtr_mask | IBV_QP_TIMEOUT;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, mask);  // here: qp-mask-extra
  return outcome(result);
}
