// The peer is named by an IPv4 address, and the index of the own GID is left at 0, which is an IPv6 address.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifndef CORRECTED
  attr.ah_attr.grh.sgid_index = 0;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-gid-family
  return outcome(result);
}
