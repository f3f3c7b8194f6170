#include "transition.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace verbs_check {

namespace {

constexpr std::array bit_names{
    std::pair{IBV_QP_STATE, "IBV_QP_STATE"},
    std::pair{IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE"},
    std::pair{IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
    std::pair{IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS"},
    std::pair{IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX"},
    std::pair{IBV_QP_PORT, "IBV_QP_PORT"},
    std::pair{IBV_QP_QKEY, "IBV_QP_QKEY"},
    std::pair{IBV_QP_AV, "IBV_QP_AV"},
    std::pair{IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU"},
    std::pair{IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT"},
    std::pair{IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT"},
    std::pair{IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY"},
    std::pair{IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN"},
    std::pair{IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC"},
    std::pair{IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH"},
    std::pair{IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER"},
    std::pair{IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN"},
    std::pair{IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC"},
    std::pair{IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE"},
    std::pair{IBV_QP_CAP, "IBV_QP_CAP"},
    std::pair{IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN"},
};

struct Bits {
  ibv_qp_type type;
  ibv_qp_state from;
  ibv_qp_state to;
  int required;
  int optional;
};

constexpr int path_bits = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int rc_running =
    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int uc_running = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int ud_running = IBV_QP_CUR_STATE | IBV_QP_QKEY;

// The steps that move data programs make. IBV_QP_STATE belongs to each; what is not here is not judged.
constexpr std::array steps{
    Bits{IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    Bits{IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    Bits{IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    Bits{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    Bits{IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    Bits{IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    Bits{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, path_bits | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    Bits{IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, path_bits, IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    Bits{IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    Bits{IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
         IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC, rc_running},
    Bits{IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, uc_running},
    Bits{IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, ud_running},
    Bits{IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, rc_running},
    Bits{IBV_QPT_UC, IBV_QPS_RTS, IBV_QPS_RTS, 0, uc_running},
    Bits{IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, ud_running},
};

ibv_qp_state target(const Transition& transition) {
  return (transition.mask & IBV_QP_STATE) != 0 ? transition.attr->qp_state : transition.from;
}

// An IPv4 address in a GID: ::ffff:a.b.c.d.
bool is_ipv4(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::ranges::equal(prefix, std::span{gid.raw}.first<12>());
}

bool is_zero(const ibv_gid& gid) {
  return std::ranges::all_of(gid.raw, [](std::uint8_t byte) { return byte == 0; });
}

// The ways up are one step at a time. ERR and RESET can be entered from (nearly) everywhere; SQD and SQE are not
// judged.
bool is_skipped(ibv_qp_state from, ibv_qp_state to) {
  const auto on_the_way = [](ibv_qp_state state) { return state <= IBV_QPS_RTS; };
  if (from == IBV_QPS_ERR) {
    return to != IBV_QPS_RESET && to != IBV_QPS_ERR;
  }
  return on_the_way(from) && on_the_way(to) && to != IBV_QPS_RESET && to != from && to != from + 1;
}

void judge_bits(const Transition& transition, ibv_qp_state to, const std::string& step, std::vector<Fault>& faults) {
  const auto* const bits = std::ranges::find_if(steps, [&](const Bits& candidate) {
    return candidate.type == transition.type && candidate.from == transition.from && candidate.to == to;
  });
  if (bits == steps.end()) {
    return;
  }
  if (const int missing = bits->required & ~transition.mask; missing != 0) {
    faults.push_back({"qp-mask-missing", step + " without " + mask_names(missing),
                      "the step needs these attributes; ibv_modify_qp answers EINVAL and does not say which",
                      "set them in ibv_qp_attr and add their bits to the mask"});
  }
  if (const int extra = transition.mask & ~(bits->required | bits->optional | IBV_QP_STATE); extra != 0) {
    faults.push_back({"qp-mask-extra", step + " with " + mask_names(extra) + ", which does not belong to this step",
                      "ibv_modify_qp answers EINVAL and does not say which bit is too many",
                      "leave the bits away here, and set these attributes in the step that they belong to"});
  }
}

void judge_path(const Transition& transition, const std::string& step, std::vector<Fault>& faults) {
  const ibv_qp_attr& attr = *transition.attr;
  if ((transition.mask & IBV_QP_AV) != 0) {
    if (attr.ah_attr.is_global == 0 && transition.link_layer == IBV_LINK_LAYER_ETHERNET) {
      faults.push_back({"qp-grh-missing", step + " with is_global 0 on an Ethernet port",
                        "RoCE has no LIDs: without a GRH there is no address, and ibv_modify_qp answers EINVAL",
                        "set ah_attr.is_global to 1, grh.dgid to the peer's GID and grh.sgid_index to your own"});
    }
    if (attr.ah_attr.is_global != 0 && is_zero(attr.ah_attr.grh.dgid)) {
      faults.push_back(
          {"qp-gid-zero", step + " with a destination GID of all zeros",
           "that is an empty slot of a GID table, not an address: the peer has sent a GID that it never had",
           "look at what the peer sends: ibv_query_gid of an empty slot returns 0 with a GID of zeros"});
    }
    if (attr.ah_attr.is_global != 0 && !is_zero(attr.ah_attr.grh.dgid) && !is_zero(transition.source_gid) &&
        transition.link_layer == IBV_LINK_LAYER_ETHERNET &&
        is_ipv4(attr.ah_attr.grh.dgid) != is_ipv4(transition.source_gid)) {
      const bool to_ipv4 = is_ipv4(attr.ah_attr.grh.dgid);
      faults.push_back({"qp-gid-family",
                        step + " from sgid_index " + std::to_string(attr.ah_attr.grh.sgid_index) + ", an " +
                            (to_ipv4 ? "IPv6" : "IPv4") + " address, to an " + (to_ipv4 ? "IPv4" : "IPv6") +
                            " address of the peer",
                        "no packet goes from one family to the other: ibv_modify_qp answers EINVAL, or nothing arrives",
                        "both sides take the GID of the same kind; send the peer the GID at your own sgid_index"});
    }
    if (attr.ah_attr.is_global != 0 && transition.source_gid_is_empty) {
      faults.push_back(
          {"qp-gid-index-empty",
           step + " with sgid_index " + std::to_string(attr.ah_attr.grh.sgid_index) + ", where the GID table is empty",
           "there is no source address; ibv_modify_qp answers ENODATA or EINVAL",
           "choose an index from ibv_query_gid_table, and send the GID of that index to the peer"});
    }
  }
  if ((transition.mask & IBV_QP_PATH_MTU) != 0 && (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > IBV_MTU_4096)) {
    faults.push_back({"qp-value-range",
                      step + " with path_mtu " + std::to_string(attr.path_mtu) +
                          ", which is no ibv_mtu: IBV_MTU_256 (1) to IBV_MTU_4096 (5)",
                      "path_mtu is an enumeration, not a number of bytes; Soft-RoCE takes any value, and cuts it off",
                      "set path_mtu to the smaller active_mtu of both ports"});
  } else if ((transition.mask & IBV_QP_PATH_MTU) != 0 && attr.path_mtu > transition.active_mtu) {
    faults.push_back(
        {"qp-mtu-above-active",
         step + " with path_mtu " + std::to_string(128U << attr.path_mtu) + ", but the port's active MTU is " +
             std::to_string(128U << transition.active_mtu),
         "packets of that size do not get through: the QP looks connected, and requests fail or never end; "
         "Soft-RoCE takes it, and within one host it even works",
         "use the smaller active_mtu of both ports"});
  }
}

void judge_ranges(const Transition& transition, const std::string& step, std::vector<Fault>& faults) {
  const ibv_qp_attr& attr = *transition.attr;
  struct Range {
    int bit;
    const char* name;
    unsigned value;
    unsigned highest;
  };
  const std::array ranges{
      Range{IBV_QP_TIMEOUT, "timeout", attr.timeout, 31},
      Range{IBV_QP_RETRY_CNT, "retry_cnt", attr.retry_cnt, 7},
      Range{IBV_QP_RNR_RETRY, "rnr_retry", attr.rnr_retry, 7},
      Range{IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", attr.min_rnr_timer, 31},
      Range{IBV_QP_RQ_PSN, "rq_psn", attr.rq_psn, 0xffffff},
      Range{IBV_QP_SQ_PSN, "sq_psn", attr.sq_psn, 0xffffff},
      Range{IBV_QP_DEST_QPN, "dest_qp_num", attr.dest_qp_num, 0xffffff},
      Range{IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr.max_rd_atomic, transition.max_rd_atomic},
      Range{IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr.max_dest_rd_atomic, transition.max_dest_rd_atomic}};
  for (const Range& range : ranges) {
    if ((transition.mask & range.bit) != 0 && range.value > range.highest) {
      faults.push_back({"qp-value-range",
                        step + " with " + range.name + " " + std::to_string(range.value) + "; the highest is " +
                            std::to_string(range.highest),
                        "the field has fewer bits than its type: one driver refuses the value, another cuts it off, "
                        "Soft-RoCE takes most of them",
                        std::string{"set "} + range.name + " to at most " + std::to_string(range.highest)});
    }
  }
}

void judge_rest(const Transition& transition, const std::string& step, std::vector<Fault>& faults) {
  const ibv_qp_attr& attr = *transition.attr;
  if ((transition.mask & IBV_QP_TIMEOUT) != 0 && attr.timeout == 0 && target(transition) == IBV_QPS_RTS) {
    faults.push_back({"qp-timeout-zero", step + " with timeout 0",
                      "0 is no short timeout but none: nothing is sent again because time has passed, and when the "
                      "last packet is lost the request never ends",
                      "set timeout to 14 (67 ms) or so: 4.096 us times 2 to the power of it"});
  }
  if ((transition.mask & IBV_QP_PORT) != 0 && transition.port_state != IBV_PORT_ACTIVE &&
      transition.port_state != IBV_PORT_NOP) {
    faults.push_back(
        {"port-not-active", step + " on port " + std::to_string(attr.port_num) + ", which is not active",
         "nothing is sent or received there; Soft-RoCE lets a QP become RTS all the same",
         "choose a device and a port whose ibv_port_attr.state is IBV_PORT_ACTIVE, by name and not by index"});
  }
}

}  // namespace

std::string step_text(const Transition& transition) {
  return std::string{state_name(transition.from)} + " to " + state_name(target(transition));
}

std::vector<Fault> faults_of(const Transition& transition) {
  std::vector<Fault> faults;
  const ibv_qp_state to = target(transition);
  const std::string step = step_text(transition);
  if (is_skipped(transition.from, to)) {
    faults.push_back({"qp-state-skipped", step + " is no step of a queue pair",
                      "the way is RESET, INIT, RTR, RTS, one step at a time; out of ERR only to RESET",
                      "make the steps between, or go to RESET and begin again"});
    return faults;
  }
  judge_bits(transition, to, step, faults);
  judge_path(transition, step, faults);
  judge_ranges(transition, step, faults);
  judge_rest(transition, step, faults);
  return faults;
}

std::string mask_names(int mask) {
  std::string text;
  for (const auto& [bit, name] : bit_names) {
    if ((mask & bit) != 0) {
      text += (text.empty() ? "" : ", ") + std::string{name};
    }
  }
  return text;
}

const char* state_name(ibv_qp_state state) {
  constexpr std::array names{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  const auto number = static_cast<std::size_t>(state);
  return number < names.size() ? names.at(number) : "an unknown state";
}

}  // namespace verbs_check
