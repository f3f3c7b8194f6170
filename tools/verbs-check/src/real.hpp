// The library's own functions behind ours.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace verbs_check {

// The next definition of `name` after this library's. It is there: the program could not have called it otherwise.
template <class Function>
Function* real(const char* name) {
  void* const address = dlsym(RTLD_NEXT, name);
  if (address == nullptr) {
    std::fprintf(stderr, "verbs-check: no %s in the libraries of this program\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace verbs_check
