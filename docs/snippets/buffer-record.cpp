// How do I tell the peer an address and an rkey?

#include <endian.h>
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// A piece of memory that the peer may use: send it as a message, or beside the address of the QP.
struct RemoteBuffer {
  std::uint64_t addr = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
};
using BufferRecord = std::array<std::byte, 16>;

// All in network byte order.
BufferRecord pack_buffer(const ibv_mr* mr) {
  const std::uint64_t addr = htobe64(reinterpret_cast<std::uintptr_t>(mr->addr));
  const std::uint32_t rkey = htobe32(mr->rkey);  // not the lkey, although both may be the same number
  const std::uint32_t length = htobe32(static_cast<std::uint32_t>(mr->length));
  BufferRecord record{};
  std::memcpy(&record[0], &addr, 8);
  std::memcpy(&record[8], &rkey, 4);
  std::memcpy(&record[12], &length, 4);
  return record;
}

RemoteBuffer unpack_buffer(std::span<const std::byte, 16> record) {
  RemoteBuffer buffer;
  std::memcpy(&buffer.addr, &record[0], 8);
  std::memcpy(&buffer.rkey, &record[8], 4);
  std::memcpy(&buffer.length, &record[12], 4);
  return {.addr = be64toh(buffer.addr), .rkey = be32toh(buffer.rkey), .length = be32toh(buffer.length)};
}
