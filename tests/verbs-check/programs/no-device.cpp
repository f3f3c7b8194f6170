// The kernel has a device, and libibverbs has no provider for it: the package ibverbs-providers is not installed.
#include "environment.hpp"

#include <infiniband/verbs.h>

#include <cstdio>

int main() {
#ifndef CORRECTED
  hide("/etc/libibverbs.d");
#endif
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);  // here: no-device
  std::printf("ibv_get_device_list: %s\n", count > 0 ? "a device" : "no device");
  if (list != nullptr) {
    ibv_free_device_list(list);
  }
  return 0;
}
