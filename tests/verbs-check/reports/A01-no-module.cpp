// The kernel has neither an adapter nor the module of Soft-RoCE.
// says: no adapter with a driver, and no Soft-RoCE
#include "../programs/environment.hpp"

#include <infiniband/verbs.h>

#include <cstdio>

int main() {
  for (const char* const folder : {"/sys/class/infiniband", "/sys/module", "/etc/libibverbs.d"}) {
    hide(folder);
  }
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);  // here: no-device
  std::printf("%d device(s)\n", count);
  if (list != nullptr) {
    ibv_free_device_list(list);
  }
  return 0;
}
