#include "names.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <utility>

namespace verbs_check {

namespace {

// The name with this value; what has none is not of this version of verbs.h.
template <class Value>
std::string_view name_of(std::span<const std::pair<Value, std::string_view>> names, Value value) {
  const auto found = std::ranges::find(names, value, &std::pair<Value, std::string_view>::first);
  return found == names.end() ? "unknown" : found->second;
}

std::string names_of(std::span<const std::pair<unsigned, std::string_view>> names, unsigned bits) {
  std::string text;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) != 0) {
      text += (text.empty() ? "" : " | ") + std::string{name};
    }
  }
  return text.empty() ? "0" : text;
}

#define NAMED(value) \
  std::pair<decltype(value), std::string_view> { value, #value }
#define NAMED_BIT(value) \
  std::pair<unsigned, std::string_view> { value, #value }

constexpr std::array wr_opcodes{
    NAMED(IBV_WR_RDMA_WRITE),
    NAMED(IBV_WR_RDMA_WRITE_WITH_IMM),
    NAMED(IBV_WR_SEND),
    NAMED(IBV_WR_SEND_WITH_IMM),
    NAMED(IBV_WR_RDMA_READ),
    NAMED(IBV_WR_ATOMIC_CMP_AND_SWP),
    NAMED(IBV_WR_ATOMIC_FETCH_AND_ADD),
    NAMED(IBV_WR_LOCAL_INV),
    NAMED(IBV_WR_BIND_MW),
    NAMED(IBV_WR_SEND_WITH_INV),
    NAMED(IBV_WR_TSO),
    NAMED(IBV_WR_DRIVER1),
};

constexpr std::array wc_opcodes{
    NAMED(IBV_WC_SEND),      NAMED(IBV_WC_RDMA_WRITE),
    NAMED(IBV_WC_RDMA_READ), NAMED(IBV_WC_COMP_SWAP),
    NAMED(IBV_WC_FETCH_ADD), NAMED(IBV_WC_BIND_MW),
    NAMED(IBV_WC_LOCAL_INV), NAMED(IBV_WC_TSO),
    NAMED(IBV_WC_RECV),      NAMED(IBV_WC_RECV_RDMA_WITH_IMM),
};

constexpr std::array statuses{
    NAMED(IBV_WC_SUCCESS),
    NAMED(IBV_WC_LOC_LEN_ERR),
    NAMED(IBV_WC_LOC_QP_OP_ERR),
    NAMED(IBV_WC_LOC_EEC_OP_ERR),
    NAMED(IBV_WC_LOC_PROT_ERR),
    NAMED(IBV_WC_WR_FLUSH_ERR),
    NAMED(IBV_WC_MW_BIND_ERR),
    NAMED(IBV_WC_BAD_RESP_ERR),
    NAMED(IBV_WC_LOC_ACCESS_ERR),
    NAMED(IBV_WC_REM_INV_REQ_ERR),
    NAMED(IBV_WC_REM_ACCESS_ERR),
    NAMED(IBV_WC_REM_OP_ERR),
    NAMED(IBV_WC_RETRY_EXC_ERR),
    NAMED(IBV_WC_RNR_RETRY_EXC_ERR),
    NAMED(IBV_WC_LOC_RDD_VIOL_ERR),
    NAMED(IBV_WC_REM_INV_RD_REQ_ERR),
    NAMED(IBV_WC_REM_ABORT_ERR),
    NAMED(IBV_WC_INV_EECN_ERR),
    NAMED(IBV_WC_INV_EEC_STATE_ERR),
    NAMED(IBV_WC_FATAL_ERR),
    NAMED(IBV_WC_RESP_TIMEOUT_ERR),
    NAMED(IBV_WC_GENERAL_ERR),
    NAMED(IBV_WC_TM_ERR),
    NAMED(IBV_WC_TM_RNDV_INCOMPLETE),
};

constexpr std::array types{NAMED(IBV_QPT_RC),         NAMED(IBV_QPT_UC),       NAMED(IBV_QPT_UD),
                           NAMED(IBV_QPT_RAW_PACKET), NAMED(IBV_QPT_XRC_SEND), NAMED(IBV_QPT_XRC_RECV),
                           NAMED(IBV_QPT_DRIVER)};

constexpr std::array send_flags{NAMED_BIT(IBV_SEND_FENCE), NAMED_BIT(IBV_SEND_SIGNALED), NAMED_BIT(IBV_SEND_SOLICITED),
                                NAMED_BIT(IBV_SEND_INLINE), NAMED_BIT(IBV_SEND_IP_CSUM)};

constexpr std::array accesses{
    NAMED_BIT(IBV_ACCESS_LOCAL_WRITE),   NAMED_BIT(IBV_ACCESS_REMOTE_WRITE), NAMED_BIT(IBV_ACCESS_REMOTE_READ),
    NAMED_BIT(IBV_ACCESS_REMOTE_ATOMIC), NAMED_BIT(IBV_ACCESS_MW_BIND),      NAMED_BIT(IBV_ACCESS_ZERO_BASED),
    NAMED_BIT(IBV_ACCESS_ON_DEMAND),     NAMED_BIT(IBV_ACCESS_HUGETLB),      NAMED_BIT(IBV_ACCESS_RELAXED_ORDERING)};

}  // namespace

std::string_view opcode_name(ibv_wr_opcode opcode) { return name_of<ibv_wr_opcode>(wr_opcodes, opcode); }
std::string_view opcode_name(ibv_wc_opcode opcode) { return name_of<ibv_wc_opcode>(wc_opcodes, opcode); }
std::string_view status_name(ibv_wc_status status) { return name_of<ibv_wc_status>(statuses, status); }
std::string_view type_name(ibv_qp_type type) { return name_of<ibv_qp_type>(types, type); }
std::string_view send_flag_names(unsigned flags) {
  // Each combination once: a trace asks for them at each post.
  static const auto all = [] {
    std::array<std::string, 1U << send_flags.size()> texts;
    for (unsigned bits = 0; bits < texts.size(); ++bits) {
      texts.at(bits) = names_of(send_flags, bits);
    }
    return texts;
  }();
  return all.at(flags % all.size());
}
std::string access_names(unsigned access) { return names_of(accesses, access); }

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace verbs_check
