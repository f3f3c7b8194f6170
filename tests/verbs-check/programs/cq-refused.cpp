// A completion queue with more entries than the device offers.
#include "common/device.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
#ifdef CORRECTED
  const int entries = 1024;  // what the queues of this program can leave there
#else
  const int entries = 1 << 20;
#endif
  ibv_cq* const cq = ibv_create_cq(device.context.get(), entries, nullptr, nullptr, 0);  // here: cq-refused
  std::printf("ibv_create_cq: %s\n", cq != nullptr ? "done" : std::strerror(errno));
  return cq != nullptr && ibv_destroy_cq(cq) == 0 ? 0 : 1;
}
