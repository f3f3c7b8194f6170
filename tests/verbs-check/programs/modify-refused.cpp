// The GID of the peer is an address at which nobody is.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifndef CORRECTED
  attr.ah_attr.grh.dgid.raw[15] ^= 0x70;  // the last byte of the address
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: modify-refused
  return outcome(result);
}
