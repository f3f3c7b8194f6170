// An RC QP shall receive what is sent to a multicast group.
#include "ud.hpp"

int main() {
  Ud ud;
#ifdef CORRECTED
  ibv_qp* const qp = ud.qp;
#else
  const lab::Owned<ibv_qp, ibv_destroy_qp> rc{ud.make_qp()};
  ibv_qp* const qp = rc.get();
#endif
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[1] = 0x0e;
  group.raw[15] = 0x41;
  const int result = ibv_attach_mcast(qp, &group, 0);  // here: mcast-refused
  show("ibv_attach_mcast", result);
  if (result == 0) {
    show("ibv_detach_mcast", ibv_detach_mcast(qp, &group, 0));
  }
  return 0;
}
