// Memory that is given back while a posted request needs it.
#include "hook.hpp"
#include "real.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

using namespace verbs_check;

namespace {

// Whether it matters that this memory is given back. Called for each free() of the program: quick for memory that is in
// no region, and false where there is no checker yet or the checker itself is at work.
template <class Length>
bool matters(const void* begin, Length length) {
  const Checker* const checker = Checker::get_if_made();
  return checker != nullptr && checker->data.may_be_registered(reinterpret_cast<std::uintptr_t>(begin), length) &&
         !Mutex::is_held_here() && !Depth::is_inside();
}

// What is wrong with giving it back, said at once.
void given_back(const char* function, const void* begin, std::size_t length) {
  Checker& checker = Checker::get();
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard lock{checker.mutex};
  if (const auto fault = checker.data.fault_of_free(address, address + length, function)) {
    checker.report({function, caller_in_program()}, nullptr, *fault);
  }
  checker.data.gave_back(address, address + length, function);
}

}  // namespace

extern "C" {

void free(void* memory) {
  static auto* const next = real<void(void*)>("free");
  if (memory != nullptr) {
    const auto length = [&] { return malloc_usable_size(memory); };
    if (matters(memory, length)) {
      given_back("free", memory, length());
    }
  }
  next(memory);
}

void* realloc(void* memory, std::size_t size) {
  static auto* const next = real<void*(void*, std::size_t)>("realloc");
  const auto length = [&] { return malloc_usable_size(memory); };
  if (memory == nullptr || !matters(memory, length)) {
    return next(memory, size);
  }
  // Whether the block stays where it is is known afterwards only.
  const std::size_t before = length();
  const auto old = reinterpret_cast<std::uintptr_t>(memory);
  void* const result = next(memory, size);
  const int left_in_errno = errno;
  const bool stays = reinterpret_cast<std::uintptr_t>(result) == old;
  const std::size_t kept = stays ? malloc_usable_size(result) : 0;
  if ((result != nullptr || size == 0) && kept < before) {
    given_back("realloc", reinterpret_cast<const void*>(old + kept), before - kept);
  }
  errno = left_in_errno;
  return result;
}

int munmap(void* memory, std::size_t length) {
  static auto* const next = real<int(void*, std::size_t)>("munmap");
  if (matters(memory, [&] { return length; })) {
    given_back("munmap", memory, length);
  }
  return next(memory, length);
}

}  // extern "C"
