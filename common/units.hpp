/// @file
/// @brief What the numbers and enumerations of the verbs API mean, in bytes, milliseconds and words. Pure functions.
#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace lab {

/// The path MTU in bytes: IBV_MTU_1024 is the number 3, and means 1024.
/// @param mtu the enumerator
/// @return bytes
[[nodiscard]] unsigned mtu_bytes(ibv_mtu mtu);

/// The enumerator for a path MTU.
/// @param bytes 256, 512, 1024, 2048 or 4096
/// @return the enumerator
/// @throws Error for any other number
[[nodiscard]] ibv_mtu mtu_from_bytes(unsigned bytes);

/// The local ACK timeout that a value of ibv_qp_attr stands for: 4.096 us x 2^timeout. (InfiniBand specification,
/// volume 1, section 9.7.6.1.3)
/// @param timeout 0 to 31
/// @return milliseconds; 0 for 0, which stands for no timeout at all
[[nodiscard]] double ack_timeout_ms(unsigned timeout);

/// The pause that a value of ibv_qp_attr asks of the sender. The table is not monotonic: 0 is the longest, 655.36 ms.
/// (InfiniBand specification, volume 1, table 45)
/// @param min_rnr_timer 0 to 31
/// @return milliseconds
[[nodiscard]] double rnr_timer_ms(unsigned min_rnr_timer);

/// The name of a QP state.
/// @param state the state
/// @return "RTS", for instance; valid for ever, as are the texts of the next three
[[nodiscard]] const char* qp_state_name(ibv_qp_state state);

/// The name of a link layer.
/// @param link_layer as ibv_port_attr has it
/// @return "Ethernet" or "InfiniBand"
[[nodiscard]] const char* link_layer_name(int link_layer);

/// The name of a GID's type.
/// @param gid_type as ibv_gid_entry has it
/// @return "RoCE v2", "RoCE v1" or "InfiniBand"
[[nodiscard]] const char* gid_type_name(unsigned gid_type);

/// What kind of address a GID is.
/// @param gid the GID
/// @return "IPv4-mapped", "link-local", "global" or "zero"
[[nodiscard]] const char* address_form(const ibv_gid& gid);

/// A GID as an IPv6 address.
/// @param gid the GID
/// @return its shortest form: "::ffff:192.0.2.1"
[[nodiscard]] std::string gid_text(const ibv_gid& gid);

/// An empty slot of the GID table. ibv_query_gid(3) reports success for those.
/// @param gid the GID
/// @return whether all its 128 bits are zero
[[nodiscard]] bool gid_is_zero(const ibv_gid& gid);

/// Access flags as text.
/// @param access ibv_access_flags
/// @return "LOCAL_WRITE | REMOTE_READ"; "local read only" for 0
[[nodiscard]] std::string access_text(unsigned access);

}  // namespace lab
