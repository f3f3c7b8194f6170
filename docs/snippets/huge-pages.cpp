// How do I use huge pages, where there are some?

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <span>
#include <system_error>

// Zeroed memory on huge pages of 2 MiB, or on ordinary pages when none are reserved. unmap() gives it back.
std::span<std::byte> map_memory(std::size_t size) {
  constexpr std::size_t huge = 2U << 20U;
  size = (size + huge - 1) / huge * huge;  // whole huge pages, else munmap(2) fails
  constexpr int access = PROT_READ | PROT_WRITE;
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS;
  // This sets as many huge pages aside, or fails when there are too few.
  void* memory = mmap(nullptr, size, access, kind | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
  if (memory == MAP_FAILED) {
    memory = mmap(nullptr, size, access, kind, -1, 0);
  }
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap");
  }
  return {static_cast<std::byte*>(memory), size};
}

// After ibv_dereg_mr.
void unmap(std::span<std::byte> memory) {
  if (munmap(memory.data(), memory.size()) != 0) {
    std::perror("munmap");
  }
}
