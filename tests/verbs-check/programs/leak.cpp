// An object that is never destroyed: the device list, which nothing else points at once a device is open.
#include <infiniband/verbs.h>

#include <cstdio>

int main() {
  ibv_device** const list = ibv_get_device_list(nullptr);  // here: leak
  if (list == nullptr || list[0] == nullptr) {
    return 77;
  }
  ibv_context* const context = ibv_open_device(list[0]);
#ifdef CORRECTED
  ibv_free_device_list(list);  // the open device stays
#endif
  std::printf("opened: %s\n", context != nullptr ? "yes" : "no");
  return context != nullptr && ibv_close_device(context) == 0 ? 0 : 1;
}
