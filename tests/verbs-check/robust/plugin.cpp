// Loads the module that its first argument names, lets it make a PD and leave it behind, and unloads it: the place of
// the call is gone when the leak is found. With a second argument also loads libibverbs itself, as languages with a
// foreign-function interface do, and unloads it.
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cstdio>

int main(int count, char** words) {
  if (count < 2) {
    return 2;
  }
  void* const verbs = count > 2 ? dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const module = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto leave_pd = reinterpret_cast<int (*)()>(dlsym(module, "leave_pd"));
  const int made = leave_pd();
  dlclose(module);
  if (verbs != nullptr) {
    dlclose(verbs);
  }
  std::printf("made: %d\n", made);
}
