// A QP is destroyed while it is attached to a multicast group, which the kernel does not do.
// says: cannot be destroyed: it is in use
// says: attachment #1 (made in main, mcast-busy.cpp
#include "../programs/ud.hpp"

int main() {
  Ud ud;
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[1] = 0x0e;
  group.raw[15] = 0x42;
  show("ibv_attach_mcast", ibv_attach_mcast(ud.qp, &group, 0));
  show("ibv_attach_mcast", ibv_attach_mcast(ud.qp, &group, 0));  // counts once
  show("ibv_destroy_qp", ibv_destroy_qp(ud.qp));                 // here: busy
  show("ibv_detach_mcast", ibv_detach_mcast(ud.qp, &group, 0));
  return 0;
}
