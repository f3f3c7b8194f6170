// The constants of verbs.h by their names.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace verbs_check {

[[nodiscard]] std::string_view opcode_name(ibv_wr_opcode opcode);  // "IBV_WR_SEND"
[[nodiscard]] std::string_view opcode_name(ibv_wc_opcode opcode);  // "IBV_WC_RECV"
[[nodiscard]] std::string_view status_name(ibv_wc_status status);  // "IBV_WC_RETRY_EXC_ERR"
[[nodiscard]] std::string_view type_name(ibv_qp_type type);        // "IBV_QPT_RC"
[[nodiscard]] std::string_view send_flag_names(unsigned flags);    // "IBV_SEND_SIGNALED | IBV_SEND_INLINE", "0"
[[nodiscard]] std::string access_names(unsigned access);           // "IBV_ACCESS_LOCAL_WRITE", "0"

[[nodiscard]] std::string hex(std::uint64_t value);  // "0x11"

}  // namespace verbs_check
