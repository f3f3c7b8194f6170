// How do I get memory that shares no page with anything else?

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

// Whole pages, zeroed. `size` is rounded up to what was taken.
Memory whole_pages(std::size_t& size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  size = (size + page - 1) / page * page;
  Memory memory{static_cast<std::byte*>(std::aligned_alloc(page, size))};
  if (!memory) {
    throw std::bad_alloc{};
  }
  std::memset(memory.get(), 0, size);
  return memory;
}
