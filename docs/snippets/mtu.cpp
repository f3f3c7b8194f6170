// How do I convert between an MTU in bytes and its enumerator?

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

// IBV_MTU_256 is 1, and each following enumerator means twice as many bytes.
unsigned mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

ibv_mtu mtu_from_bytes(unsigned bytes) {
  for (const ibv_mtu mtu : std::array{IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
    if (mtu_bytes(mtu) == bytes) {
      return mtu;
    }
  }
  throw std::invalid_argument(std::to_string(bytes) + " is no MTU: 256, 512, 1024, 2048 or 4096");
}

// For both ends of a connection: what the smaller port has active.
ibv_mtu path_mtu(const ibv_port_attr& local, ibv_mtu active_at_peer) {
  return std::min(local.active_mtu, active_at_peer);
}
