// A container that was not given the files of the devices.
// says: docker run --device=/dev/infiniband
#include "../programs/environment.hpp"

#include <infiniband/verbs.h>

#include <cstdio>

int main() {
  hide("/dev/infiniband");
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);  // here: no-device
  std::printf("%d device(s)\n", count);
  if (list != nullptr) {
    ibv_free_device_list(list);
  }
  return 0;
}
