// Two places that both believe that the PD is theirs.
#include "common/device.hpp"

#include <cstdio>

int main() {
  const lab::Device device = lab::open_device({});
  ibv_pd* pd = ibv_alloc_pd(device.context.get());
  // The error path has cleaned up ...
  ibv_dealloc_pd(pd);
#ifdef CORRECTED
  pd = nullptr;
#endif
  // ... and so does the end of the program.
  int result = 0;
  if (pd != nullptr) {
    result = ibv_dealloc_pd(pd);  // here: destroyed-twice
  }
  std::printf("ibv_dealloc_pd: %d\n", result);
  return result == 0 ? 0 : 1;
}
