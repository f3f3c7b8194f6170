// How do I see, and raise, how much memory I may register?

#include <sys/resource.h>

#include <cerrno>
#include <system_error>

// Raises the limit of this process as far as it may by itself; returns it in bytes, RLIM_INFINITY for no limit.
rlim_t raise_memlock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrlimit");
  }
  if (limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
      throw std::system_error(errno, std::generic_category(), "setrlimit");
    }
  }
  return limit.rlim_cur;
}
