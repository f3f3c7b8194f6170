// The largest path MTU that there is, whatever the port can do.
#include "qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
#ifdef CORRECTED
  attr.path_mtu = f.device.port_attr.active_mtu;
#else
  attr.path_mtu = IBV_MTU_4096;
#endif
  const int result = ibv_modify_qp(f.qp, &attr, f.rtr_mask);  // here: qp-mtu-above-active
  return outcome(result);
}
