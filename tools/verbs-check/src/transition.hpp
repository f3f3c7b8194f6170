// What is wrong with a transition of a queue pair, by the rules of the specification and ibv_modify_qp(3). Pure: it is
// given everything that it looks at.
#pragma once

#include <infiniband/verbs.h>

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
  bool source_gid_is_empty = false;  // the GID table has nothing at sgid_index
};

struct Fault {
  std::string id;    // of the finding
  std::string what;  // "INIT to RTR without IBV_QP_RQ_PSN"
  std::string why;
  std::string mend;
};

[[nodiscard]] std::vector<Fault> faults_of(const Transition& transition);

// "IBV_QP_PORT, IBV_QP_ACCESS_FLAGS"
[[nodiscard]] std::string mask_names(int mask);

[[nodiscard]] const char* state_name(ibv_qp_state state);  // "RTS"

}  // namespace verbs_check
