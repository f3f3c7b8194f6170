// Memory is registered in a PD that is gone.
#include "common/device.hpp"

#include <array>
#include <cstdio>

int main() {
  const lab::Device device = lab::open_device({});
  std::array<char, 64> buffer{};
  ibv_pd* const pd = ibv_alloc_pd(device.context.get());
#ifndef CORRECTED
  ibv_dealloc_pd(pd);
#endif
  ibv_mr* const mr = ibv_reg_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);  // here: used-after-destroy
  if (mr == nullptr) {
    std::perror("ibv_reg_mr");
    return 1;
  }
  ibv_dereg_mr(mr);
#ifdef CORRECTED
  ibv_dealloc_pd(pd);
#endif
  return 0;
}
