// The own host by 127.0.0.1, which is on an interface without an RDMA device.
// says: 127.0.0.1 or another one of lo, which has no RDMA device
#include "../programs/cm.hpp"

int main() {
  Manager cm;
  cm.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  cm.ask_address();
  cm.next();
  show("rdma_resolve_route", rdma_resolve_route(cm.id, 2000));  // here: cm-refused
  cm.finish();
  return 0;
}
