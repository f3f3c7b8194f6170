// What plugin.cpp loads.
#include <infiniband/verbs.h>

extern "C" int leave_pd() {
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (list == nullptr || list[0] == nullptr) {
    return 0;
  }
  ibv_context* const context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return context != nullptr && ibv_alloc_pd(context) != nullptr ? 1 : 0;
}
