// The device is closed while a PD on it lives. The verb takes it.
#include <infiniband/verbs.h>

#include <cstdio>

int main() {
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (list == nullptr || list[0] == nullptr) {
    return 77;
  }
  ibv_context* const context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  if (context == nullptr) {
    return 1;
  }
  [[maybe_unused]] ibv_pd* const pd = ibv_alloc_pd(context);
#ifdef CORRECTED
  ibv_dealloc_pd(pd);
#endif
  const int result = ibv_close_device(context);  // here: closed-with-children
  std::printf("ibv_close_device: %d\n", result);
  return result;
}
