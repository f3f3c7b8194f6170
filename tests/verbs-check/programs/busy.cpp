// A PD is deallocated while a memory region still lives in it.
#include "common/device.hpp"

#include <array>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  std::array<char, 64> buffer{};
  ibv_pd* const pd = ibv_alloc_pd(device.context.get());
  ibv_mr* const mr = ibv_reg_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
#ifdef CORRECTED
  ibv_dereg_mr(mr);
  const int result = ibv_dealloc_pd(pd);
#else
  const int result = ibv_dealloc_pd(pd);  // here: busy
  ibv_dereg_mr(mr);
  ibv_dealloc_pd(pd);  // the refused call has changed nothing: this one works
#endif
  std::printf("ibv_dealloc_pd: %s\n", result == 0 ? "done" : std::strerror(result));
  return result == 0 ? 0 : 1;
}
