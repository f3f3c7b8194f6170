// Allows itself no more than a few lines of a trace, before it goes on.
// fails: error
#include <infiniband/verbs.h>

#include <sys/resource.h>

int main() {
  constexpr rlim_t few = 1000;
  const rlimit limit{few, few};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    return 1;
  }
  for (int count = 0; count < 20; ++count) {
    ibv_device** const list = ibv_get_device_list(nullptr);
    if (list != nullptr) {
      ibv_free_device_list(list);
    }
  }
  return 0;
}
