// Memory that is given back while a posted request needs it.
#include "hook.hpp"
#include "real.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>

using namespace verbs_check;

namespace {

// What is wrong with giving this memory back, said at once. Called for each free() of the program: quick for memory
// that is in no region, and silent where there is no checker yet or the checker itself is at work.
template <class Length>
void giving_back(const char* function, const void* begin, Length length) {
  Checker* const checker = Checker::get_if_made();
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  if (checker == nullptr || !checker->data.may_be_registered(address, length) || Mutex::is_held_here() ||
      Depth::is_inside()) {
    return;
  }
  const std::lock_guard lock{checker->mutex};
  if (const auto fault = checker->data.fault_of_free(address, address + length(), function)) {
    checker->report({function, caller_in_program()}, nullptr, *fault);
  }
}

}  // namespace

extern "C" {

void free(void* memory) {
  static auto* const next = real<void(void*)>("free");
  if (memory != nullptr) {
    giving_back("free", memory, [&] { return malloc_usable_size(memory); });
  }
  next(memory);
}

int munmap(void* memory, std::size_t length) {
  static auto* const next = real<int(void*, std::size_t)>("munmap");
  giving_back("munmap", memory, [&] { return length; });
  return next(memory, length);
}

}  // extern "C"
