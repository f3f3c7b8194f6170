// An index that was right on another machine: here the GID table is empty there.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifndef CORRECTED
  attr.ah_attr.grh.sgid_index = 5;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-gid-index-empty
  return outcome(result);
}
