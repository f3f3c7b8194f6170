// The peer is addressed by LID, on Ethernet, which has none.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifndef CORRECTED
  attr.ah_attr.is_global = 0;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-grh-missing
  return outcome(result);
}
