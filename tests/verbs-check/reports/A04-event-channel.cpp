// The first verb of a program is one of rdma_cm, and there is no device.
// says: libibverbs finds a device only with the provider library
#include "../programs/environment.hpp"

#include <rdma/rdma_cma.h>

#include <cstdio>

int main() {
  hide("/etc/libibverbs.d");
  rdma_event_channel* const channel = rdma_create_event_channel();  // here: no-device
  std::perror("rdma_create_event_channel");
  if (channel != nullptr) {
    rdma_destroy_event_channel(channel);
  }
  return 0;
}
