// What is wrong with a transition of a queue pair, by the rules of the specification and ibv_modify_qp(3). Pure: it is
// given everything that it looks at.
#pragma once

#include "fault.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

namespace verbs_check {

struct Transition {
  ibv_qp_type type = IBV_QPT_RC;
  ibv_qp_state from = IBV_QPS_RESET;
  const ibv_qp_attr* attr = nullptr;
  int mask = 0;
  // Of the port that the attributes, or the QP so far, name; what is not known stays empty and is not judged.
  int link_layer = IBV_LINK_LAYER_UNSPECIFIED;
  ibv_mtu active_mtu = IBV_MTU_4096;
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  std::uint32_t max_message = 0;     // max_msg_sz of the port, bytes
  bool source_gid_is_empty = false;  // the GID table has nothing at sgid_index
  ibv_gid source_gid{};              // what it has there; all zeros: not known
  bool to_own_address = false;       // the peer is behind the same GID or LID
  unsigned max_rd_atomic = 255;      // of the device
  unsigned max_dest_rd_atomic = 255;
};

[[nodiscard]] std::vector<Fault> faults_of(const Transition& transition);

[[nodiscard]] std::string step_text(const Transition& transition);  // "INIT to RTR"

// "IBV_QP_PORT, IBV_QP_ACCESS_FLAGS"
[[nodiscard]] std::string mask_names(int mask);

[[nodiscard]] const char* state_name(ibv_qp_state state);  // "RTS"

}  // namespace verbs_check
