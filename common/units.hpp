/// @file
/// What the numbers and enumerations of the verbs API mean, in bytes, seconds and words. Pure functions.
#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace lab {

/// The path MTU in bytes: IBV_MTU_1024 is the number 3, and means 1024.
[[nodiscard]] unsigned mtu_bytes(ibv_mtu mtu);

/// The enumerator for an MTU in bytes: 256, 512, 1024, 2048 or 4096; throws Error for any other number.
[[nodiscard]] ibv_mtu mtu_from_bytes(unsigned bytes);

/// The local ACK timeout that `timeout` (0 to 31) of ibv_qp_attr stands for, in milliseconds: 4.096 us x 2^timeout.
/// 0 stands for no timeout at all and gives 0. (InfiniBand specification, volume 1, section 9.7.6.1.3)
[[nodiscard]] double ack_timeout_ms(unsigned timeout);

/// The pause that `min_rnr_timer` (0 to 31) of ibv_qp_attr asks of the sender, in milliseconds.
/// The table is not monotonic: 0 is the longest, 655.36 ms. (InfiniBand specification, volume 1, table 45)
[[nodiscard]] double rnr_timer_ms(unsigned min_rnr_timer);

[[nodiscard]] const char* qp_state_name(ibv_qp_state state);  ///< "RTS"
[[nodiscard]] const char* link_layer_name(int link_layer);    ///< "Ethernet", "InfiniBand"; from ibv_port_attr
[[nodiscard]] const char* gid_type_name(unsigned gid_type);   ///< "RoCE v2"; from ibv_gid_entry
[[nodiscard]] const char* address_form(const ibv_gid& gid);   ///< "IPv4-mapped", "link-local", "global", "zero"

/// The GID as an IPv6 address in its shortest form: "::ffff:192.0.2.1".
[[nodiscard]] std::string gid_text(const ibv_gid& gid);

/// All 128 bits zero: an empty slot of the table. ibv_query_gid(3) reports success for those.
[[nodiscard]] bool gid_is_zero(const ibv_gid& gid);

/// "LOCAL_WRITE | REMOTE_READ"; "local read only" for 0.
[[nodiscard]] std::string access_text(unsigned access);

}  // namespace lab
