/// @file
/// Brings a QP from RESET to RTS. Chapter 08 does this by hand and explains every attribute; from 09 on programs use
/// this.
#pragma once

#include "common/device.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

namespace lab {

/// What one side must know of the other to connect a QP to it.
struct Endpoint {
  std::uint16_t lid = 0;  ///< of the port; 0 on Ethernet
  std::uint32_t qpn = 0;  ///< QP number, 24 bits
  std::uint32_t psn = 0;  ///< number of the first packet that this side sends, 24 bits
  ibv_gid gid{};          ///< network byte order; all zero: address by LID
};

/// The path to the peer, as this side sees it.
struct Path {
  std::uint8_t port = 1;                ///< local port number
  ibv_mtu mtu = IBV_MTU_1024;           ///< largest packet payload; both sides the same
  std::uint8_t sl = 0;                  ///< service level
  std::optional<ibv_gid_entry> source;  ///< local GID; none: no GRH, the LID addresses the peer
};

/// How long this side keeps trying.
struct Persistence {
  /// 4.096 us x 2^14: at least 67.1 ms, at most four times that, until an unanswered packet is sent again
  std::uint8_t timeout = 14;
  std::uint8_t retry_cnt = 7;  ///< number of retries (Soft-RoCE: without end when 7)
  std::uint8_t rnr_retry = 7;  ///< number of retries when the peer has no receive posted; 7: without end
};

/// The path that the options and the device's port give. Throws Error when -m is above the port's active MTU, which
/// hardware is reported to drop (not tested), and rules from choose_gid().
[[nodiscard]] Path make_path(const Device& device, const Options& options);

/// The local endpoint of a QP, with a random PSN.
[[nodiscard]] Endpoint local_endpoint(const Device& device, const Path& path, const ibv_qp* qp);

/// RESET to INIT. @param access what the peer may do to this QP's memory: ibv_access_flags; 0 for send and receive
void to_init(ibv_qp* qp, const Path& path, unsigned access = 0);

/// INIT to RTR: from here on the QP receives. Throws Error when the path needs a GID and the peer has sent none.
void to_rtr(ibv_qp* qp, const Path& path, const Endpoint& remote);

/// RTR to RTS: from here on the QP sends. @param local_psn the PSN that the peer was told
void to_rts(ibv_qp* qp, std::uint32_t local_psn, const Persistence& persistence = {});

/// The state that the device reports. ibv_query_qp(3)
[[nodiscard]] ibv_qp_state state_of(ibv_qp* qp);

}  // namespace lab
