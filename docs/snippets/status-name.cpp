// How do I name a completion status?

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <string>

// "RNR_RETRY_EXC_ERR (13)": the name in <infiniband/verbs.h> without IBV_WC_, and the number that tools print.
std::string status_name(ibv_wc_status status) {
  constexpr std::array names{
      "SUCCESS",
      "LOC_LEN_ERR",
      "LOC_QP_OP_ERR",
      "LOC_EEC_OP_ERR",
      "LOC_PROT_ERR",
      "WR_FLUSH_ERR",
      "MW_BIND_ERR",
      "BAD_RESP_ERR",
      "LOC_ACCESS_ERR",
      "REM_INV_REQ_ERR",
      "REM_ACCESS_ERR",
      "REM_OP_ERR",
      "RETRY_EXC_ERR",
      "RNR_RETRY_EXC_ERR",
      "LOC_RDD_VIOL_ERR",
      "REM_INV_RD_REQ_ERR",
      "REM_ABORT_ERR",
      "INV_EECN_ERR",
      "INV_EEC_STATE_ERR",
      "FATAL_ERR",
      "RESP_TIMEOUT_ERR",
      "GENERAL_ERR",
      "TM_ERR",
      "TM_RNDV_INCOMPLETE",
  };
  const auto number = static_cast<std::size_t>(status);
  return std::string{number < names.size() ? names[number] : "status"} + " (" + std::to_string(number) + ")";
}
