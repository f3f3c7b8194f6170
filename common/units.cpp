#include "common/units.hpp"

#include "common/errors.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <span>

namespace lab {

namespace {

enum class Form { zero, ipv4_mapped, link_local, global };

Form form_of(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (gid_is_zero(gid)) {
    return Form::zero;
  }
  if (std::ranges::equal(mapped_prefix, std::span{gid.raw}.first<12>())) {
    return Form::ipv4_mapped;
  }
  if (gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0U) == 0x80) {  // fe80::/10
    return Form::link_local;
  }
  return Form::global;
}

}  // namespace

unsigned mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

ibv_mtu mtu_from_bytes(unsigned bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
    if (mtu_bytes(mtu) == bytes) {
      return mtu;
    }
  }
  throw Error("a path MTU is 256, 512, 1024, 2048 or 4096 bytes, not " + std::to_string(bytes));
}

double ack_timeout_ms(unsigned timeout) {
  return timeout == 0 ? 0.0 : 0.004096 * static_cast<double>(std::uint64_t{1} << (timeout & 31U));
}

double rnr_timer_ms(unsigned min_rnr_timer) {
  constexpr std::array<double, 32> milliseconds{655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                                0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                                2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                                40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
  return milliseconds.at(min_rnr_timer);
}

const char* qp_state_name(ibv_qp_state state) {
  constexpr std::array names{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  const auto number = static_cast<std::size_t>(state);
  return number < names.size() ? names[number] : "unknown state";
}

const char* link_layer_name(int link_layer) {
  switch (link_layer) {
    case IBV_LINK_LAYER_INFINIBAND:
    case IBV_LINK_LAYER_UNSPECIFIED:  // what drivers from before RoCE report
      return "InfiniBand";
    case IBV_LINK_LAYER_ETHERNET:
      return "Ethernet";
    default:
      return "unknown link layer";
  }
}

const char* gid_type_name(unsigned gid_type) {
  switch (gid_type) {
    case IBV_GID_TYPE_IB:
      return "InfiniBand";
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "unknown type";
  }
}

const char* address_form(const ibv_gid& gid) {
  switch (form_of(gid)) {
    case Form::zero:
      return "zero";
    case Form::ipv4_mapped:
      return "IPv4-mapped";
    case Form::link_local:
      return "link-local";
    case Form::global:
      break;
  }
  return "global";
}

std::string gid_text(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, gid.raw, text.data(), text.size());
  return text.data();
}

bool gid_is_zero(const ibv_gid& gid) {
  return std::ranges::all_of(gid.raw, [](std::uint8_t byte) { return byte == 0; });
}

std::string access_text(unsigned access) {
  struct Flag {
    unsigned bit;
    const char* name;
  };
  constexpr std::array flags{Flag{IBV_ACCESS_LOCAL_WRITE, "LOCAL_WRITE"}, Flag{IBV_ACCESS_REMOTE_WRITE, "REMOTE_WRITE"},
                             Flag{IBV_ACCESS_REMOTE_READ, "REMOTE_READ"},
                             Flag{IBV_ACCESS_REMOTE_ATOMIC, "REMOTE_ATOMIC"}};
  std::string text;
  for (const Flag& flag : flags) {
    if ((access & flag.bit) != 0) {
      text += (text.empty() ? "" : " | ") + std::string{flag.name};
    }
  }
  return text.empty() ? "local read only" : text;
}

}  // namespace lab
