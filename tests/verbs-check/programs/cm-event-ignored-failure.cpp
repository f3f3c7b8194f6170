// The event that says that an address cannot be reached is acknowledged, and taken for the one that was hoped for.
#include "cm.hpp"

int main() {
  Manager cm;
#ifndef CORRECTED
  cm.address.sin_addr.s_addr = htonl(0xc0000263);  // 192.0.2.99: nobody has it
#endif
  cm.ask_address();
#ifdef CORRECTED
  if (cm.next() != RDMA_CM_EVENT_ADDR_RESOLVED) {
    return 1;
  }
#else
  cm.next();
#endif
  const int result = rdma_resolve_route(cm.id, 2000);  // here: cm-event-ignored-failure
  show("rdma_resolve_route", result);
  if (result == 0) {
    cm.next();
  }
  cm.finish();
  return 0;
}
