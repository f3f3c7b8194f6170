// How do I choose a GID?

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace {

bool begins_with(const ibv_gid& gid, std::span<const std::uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), std::begin(gid.raw));
}

// 0: do not use it.
int worth(const ibv_gid_entry& entry) {
  constexpr std::array<std::uint8_t, 12> ipv4_mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<std::uint8_t, 2> link_local{0xfe, 0x80};
  if (begins_with(entry.gid, std::array<std::uint8_t, 16>{})) {
    return 0;
  }
  const int address = begins_with(entry.gid, ipv4_mapped) ? 3 : begins_with(entry.gid, link_local) ? 1 : 2;
  return address + (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 3 : 0);
}

}  // namespace

// RoCE v2 before v1; among those an IPv4 address before a global IPv6 one, and that before a link-local one.
std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> table, std::uint32_t port) {
  std::optional<ibv_gid_entry> best;
  for (const ibv_gid_entry& entry : table) {
    if (entry.port_num == port && worth(entry) > (best ? worth(*best) : 0)) {
      best = entry;
    }
  }
  return best;
}
