// The device is listed, and its file may not be opened: a container that was given the file without the right to it.
#include "environment.hpp"

#include <infiniband/verbs.h>

#include <cstdio>

int main() {
#ifndef CORRECTED
  forbid("/dev/infiniband");
#endif
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (list == nullptr || list[0] == nullptr) {
    return 77;
  }
  ibv_context* const context = ibv_open_device(list[0]);  // here: open-refused
  ibv_free_device_list(list);
  std::printf("opened: %s\n", context != nullptr ? "yes" : "no");
  return context != nullptr && ibv_close_device(context) == 0 ? 0 : 1;
}
