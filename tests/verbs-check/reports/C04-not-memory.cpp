// An address that is no memory of this process, as that of a buffer on a GPU is none.
// says: memory of a GPU needs a driver that shares it
#include "common/device.hpp"
#include "common/errors.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const std::size_t size = 4096;
  void* const gone = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, size);
  ibv_mr* const mr = ibv_reg_mr(pd.get(), gone, size, IBV_ACCESS_LOCAL_WRITE);  // here: mr-refused
  std::printf("ibv_reg_mr: %s\n", mr != nullptr ? "done" : std::strerror(errno));
  return mr != nullptr && ibv_dereg_mr(mr) == 0 ? 0 : 1;
}
