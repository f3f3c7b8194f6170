// A server binds to an address that the interface has not been given.
// says: no interface of this host has the address
#include "../programs/cm.hpp"

int main() {
  Manager cm;
  cm.address.sin_addr.s_addr = htonl(0xc0000263);  // 192.0.2.99
  auto* const address = reinterpret_cast<sockaddr*>(&cm.address);
  show("rdma_bind_addr", rdma_bind_addr(cm.id, address));  // here: cm-refused
  cm.finish();
  return 0;
}
