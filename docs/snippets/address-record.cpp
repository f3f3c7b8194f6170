// How do I pack what the peer must know into bytes?

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

struct Address {
  std::uint16_t lid = 0;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  ibv_gid gid{};
};
using AddressRecord = std::array<std::byte, 26>;

// Fixed places, numbers in network byte order. The GID is in that order already.
AddressRecord pack(const Address& address) {
  const std::uint16_t lid = htons(address.lid);
  const std::uint32_t qpn = htonl(address.qpn);
  const std::uint32_t psn = htonl(address.psn);
  AddressRecord record{};
  std::memcpy(&record[0], &lid, 2);
  std::memcpy(&record[2], &qpn, 4);
  std::memcpy(&record[6], &psn, 4);
  std::memcpy(&record[10], address.gid.raw, 16);
  return record;
}

Address unpack(std::span<const std::byte, 26> record) {
  Address address;
  std::memcpy(&address.lid, &record[0], 2);
  std::memcpy(&address.qpn, &record[2], 4);
  std::memcpy(&address.psn, &record[6], 4);
  std::memcpy(address.gid.raw, &record[10], 16);
  address.lid = ntohs(address.lid);
  address.qpn = ntohl(address.qpn);
  address.psn = ntohl(address.psn);
  return address;
}
