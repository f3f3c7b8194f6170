/// @file
/// @brief Choosing a device, a port and a GID.
///
/// Chapters 01 and 02 do all of this by hand; from 03 on programs use this.
#pragma once

#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab {

/// An open device and the port to use on it.
struct Device {
  Owned<ibv_context, ibv_close_device> context;  ///< closed when this goes; what was made from it must go before
  std::uint8_t port = 0;                         ///< port number, from 1
  ibv_port_attr port_attr{};                     ///< as queried when the device was opened

  /// @return the name of the device, for instance "rxe0"; valid as long as the context
  [[nodiscard]] const char* name() const { return ibv_get_device_name(context->device); }
};

/// Opens a device and chooses a port. ibv_get_device_list(3), ibv_open_device(3), ibv_query_port(3)
/// @param options ib_dev (-d) and ib_port (-i) are looked at; where they name none, the first device with an active
///                port and the first active port of it
/// @return the device, which the caller owns
/// @throws Error when there is no such device or port (the message lists what there is), or the port is not active
/// @throws VerbError when a verb fails
[[nodiscard]] Device open_device(const Options& options);

/// The GID table of a port. ibv_query_gid_table(3)
/// @param context the open device; stays the caller's
/// @param port    port number, from 1
/// @return the filled slots, in the order of the device; gid_index is the place in the table
/// @throws VerbError when a verb fails
[[nodiscard]] std::vector<ibv_gid_entry> gid_table(ibv_context* context, std::uint8_t port);

/// Chooses the GID to send from. A pure function over what was queried.
///
/// An index that was asked for is taken if its slot is filled. Otherwise on Ethernet: RoCE v2 before RoCE v1; within
/// these an IPv4-mapped address, then a global IPv6 one, then a link-local one; among equals the lowest index. On
/// InfiniBand: none, the LID addresses the port and no GRH is needed, unless the port says that it is.
/// @param table       the filled slots, of one port, in any order
/// @param port        of that port; link_layer and flags are looked at
/// @param transport   transport_type of ibv_device
/// @param wanted      the index asked for with -g, or -1
/// @return the slot, or nothing for addressing by LID
/// @throws Error when the wanted slot is empty, when a port that needs a GID has none, and for iWARP, whose QPs are
/// connected by rdma_cm only (rdma_cm(7)).
[[nodiscard]] std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> table, const ibv_port_attr& port,
                                                      ibv_transport_type transport, int wanted);

/// choose_gid() over what the device reports. ibv_query_gid_table(3)
/// @param device  the open device and its port
/// @param options gid_idx (-g) is looked at
/// @return the slot, or nothing for addressing by LID
/// @throws Error as the other one does
/// @throws VerbError when the table cannot be queried
[[nodiscard]] std::optional<ibv_gid_entry> choose_gid(const Device& device, const Options& options);

}  // namespace lab
