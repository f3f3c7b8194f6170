// How do I know which request a completion belongs to?

#include <cstdint>

enum class Kind : std::uint8_t { receive, send, write, read };

// The kind in the upper 8 bits, the number of the buffer in the lower 56.
constexpr std::uint64_t wr_id_of(Kind kind, std::uint64_t index) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56U | index;
}
constexpr Kind kind_of(std::uint64_t wr_id) { return static_cast<Kind>(wr_id >> 56U); }
constexpr std::uint64_t index_of(std::uint64_t wr_id) { return wr_id & ((std::uint64_t{1} << 56U) - 1); }
