// A step that was copied from InfiniBand: the address of the peer is a LID and nothing more.
// says: is_global
#include "../programs/qp.hpp"

int main() {
  const Fixture f;
  lab::to_init(f.qp, f.path);
  ibv_qp_attr attr = f.rtr();
  attr.ah_attr = {.dlid = f.device.port_attr.lid, .port_num = f.path.port};
  return outcome(ibv_modify_qp(f.qp, &attr, f.rtr_mask));  // here: qp-grh-missing
}
