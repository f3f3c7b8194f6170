// A QP is detached from a group that it was never attached to.
// says: ibv_detach_mcast has refused: EINVAL
// says: the QP is not attached to this group
#include "../programs/ud.hpp"

int main() {
  Ud ud;
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[1] = 0x0e;
  group.raw[15] = 0x44;
  show("ibv_detach_mcast", ibv_detach_mcast(ud.qp, &group, 0));  // here: mcast-refused
  return 0;
}
