// The device list is freed too early: before the device of it is opened.
#include <infiniband/verbs.h>

#include <cstdio>

int main() {
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (list == nullptr || list[0] == nullptr) {
    return 77;
  }
  ibv_device* const device = list[0];
#ifndef CORRECTED
  ibv_free_device_list(list);
#endif
  ibv_context* const context = ibv_open_device(device);  // here: device-after-list
#ifdef CORRECTED
  ibv_free_device_list(list);
#endif
  std::printf("opened: %s\n", context != nullptr ? "yes" : "no");
  return context != nullptr && ibv_close_device(context) == 0 ? 0 : 1;
}
