// The peer has sent a GID of zeros, and it is taken as an address.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifndef CORRECTED
  attr.ah_attr.grh.dgid = {};
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-gid-zero
  return outcome(result);
}
