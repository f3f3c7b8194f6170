/// @file
/// @brief Brings a QP from RESET to RTS.
///
/// Chapter 08 does this by hand and explains every attribute; from 09 on programs use
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

/// The path that the options and the device's port give.
/// @param device  the open device and its port
/// @param options mtu in bytes (-m), sl (-l) and gid_idx (-g) are looked at
/// @return the path; its source is what choose_gid() has chosen
/// @throws Error when -m is above the port's active MTU, which hardware is reported to drop (not tested), or as
/// choose_gid() does
[[nodiscard]] Path make_path(const Device& device, const Options& options);

/// The local endpoint of a QP, to be told to the peer.
/// @param device the device on which the QP was made: its port has the LID
/// @param path   the path that the QP will take: its source has the GID
/// @param qp     the QP, in any state; stays the caller's
/// @return the endpoint, with a PSN that is random anew at each call: keep it for to_rts()
[[nodiscard]] Endpoint local_endpoint(const Device& device, const Path& path, const ibv_qp* qp);

/// RESET to INIT. ibv_modify_qp(3)
/// @param qp     the QP, in RESET
/// @param path   its port is the one that the QP will use
/// @param access what the peer may do to this QP's memory: ibv_access_flags; 0 for send and receive
/// @throws VerbError when the device refuses
void to_init(ibv_qp* qp, const Path& path, unsigned access = 0);

/// INIT to RTR: from here on the QP receives. ibv_modify_qp(3)
///
/// Sets max_dest_rd_atomic to 1, min_rnr_timer to 12 (0.64 ms) and, where the path has a GID, hop_limit to 64.
/// @param qp     the QP, in INIT
/// @param path   the path to the peer
/// @param remote what the peer has told of its QP
/// @throws Error when the path needs a GID and the peer has sent none
/// @throws VerbError when the device refuses
void to_rtr(ibv_qp* qp, const Path& path, const Endpoint& remote);

/// RTR to RTS: from here on the QP sends. Sets max_rd_atomic to 1. ibv_modify_qp(3)
/// @param qp          the QP, in RTR
/// @param local_psn   the PSN that the peer was told, 24 bits: that of local_endpoint()
/// @param persistence how long to keep trying
/// @throws VerbError when the device refuses
void to_rts(ibv_qp* qp, std::uint32_t local_psn, const Persistence& persistence = {});

/// The state of a QP. ibv_query_qp(3)
/// @param qp the QP; stays the caller's
/// @return the state that the device reports, also one that the QP has fallen into by itself
/// @throws VerbError when the query fails
[[nodiscard]] ibv_qp_state state_of(ibv_qp* qp);

}  // namespace lab
