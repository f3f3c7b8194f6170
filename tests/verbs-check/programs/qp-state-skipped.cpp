// RESET to RTR in one step.
#include "qp.hpp"

int main() {
  const Fixture f;
#ifdef CORRECTED
  lab::to_init(f.qp, f.path);
#endif
  ibv_qp_attr attr = f.rtr();
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-state-skipped
  return outcome(result);
}
