#include "common/errors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lab {

namespace {

struct Cause {
  std::string_view verb;
  int code;
  std::string_view text;
};

// Collected from man pages and from what people reported. A verb may stand here more than once.
constexpr std::array causes{
    Cause{"ibv_get_device_list", ENOSYS,
          "this kernel has no RDMA support loaded, so there is no device: `./lab doctor` says what to do"},
    // rdma-core 44 looks further when it may not open the file, and where there is no /dev/char ends with ENOENT too.
    Cause{"ibv_open_device", ENOENT,
          "/dev/infiniband/uverbsN is missing or may not be opened: see its owner and mode; in a container it must be "
          "passed in"},
    Cause{"ibv_open_device", EACCES, "/dev/infiniband/uverbsN may not be opened: see its owner and mode"},
    Cause{"ibv_open_device", EPERM, "a container that may not use the device"},
    Cause{"ibv_alloc_pd", ENOMEM, "the device has no protection domain left (max_pd)"},
    Cause{"ibv_dealloc_pd", EBUSY, "a QP, MR, SRQ, AH, MW or WQ of this protection domain is still alive"},
    Cause{"ibv_create_cq", EINVAL, "the size is 0 or above max_cqe, or comp_vector is not below num_comp_vectors"},
    Cause{"ibv_destroy_cq", EBUSY, "a QP or SRQ still uses this completion queue"},
    Cause{"ibv_destroy_comp_channel", EBUSY, "a completion queue still uses this channel"},
    Cause{"ibv_create_qp", EINVAL,
          "a capability is above the device's limit, or a field was never set: zero the structure"},
    Cause{"ibv_create_qp", ENOMEM, "the device cannot grant this combination of depths: ask for less"},
    Cause{"ibv_create_qp", EOPNOTSUPP, "the device does not offer this QP type"},
    Cause{"ibv_destroy_qp", EBUSY, "the QP is still attached to a multicast group"},
    Cause{"ibv_destroy_srq", EBUSY, "a QP still uses this shared receive queue"},
    Cause{"ibv_modify_qp", EINVAL,
          "a mask bit that this transition needs is missing or one too many is set, or on Ethernet the GRH is missing, "
          "or a GID is zero or of the other address family, or ah_attr.port_num is 0"},
    Cause{"ibv_modify_qp", ENODATA, "the GID table is empty at sgid_index"},
    Cause{"ibv_modify_qp", ETIMEDOUT,
          "the address of the destination GID could not be resolved: is the peer reachable?"},
    Cause{"ibv_modify_qp", EHOSTUNREACH, "there is no route to the destination GID"},
    Cause{"ibv_modify_qp", ENETUNREACH, "there is no route to the destination GID"},
    Cause{"ibv_reg_mr", EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well"},
    Cause{"ibv_reg_mr", ENOMEM, "more than RLIMIT_MEMLOCK may lock (see `ulimit -l`), or more memory than there is"},
    Cause{"ibv_reg_mr", EFAULT, "part of the range is not mapped, or is not writable though LOCAL_WRITE was asked for"},
    Cause{"ibv_dereg_mr", EBUSY, "a memory window is still bound to this region"},
    Cause{"ibv_dereg_mr", EINVAL, "a memory window is still bound to this region"},
    Cause{"ibv_post_send", EINVAL, "the QP is not in RTS, or the request breaks a limit of the QP (SGEs, inline size)"},
    Cause{"ibv_post_send", ENOMEM, "the send queue is full: only a polled, signalled completion gives slots back"},
    Cause{"ibv_post_recv", EINVAL, "the QP is in RESET, or the request has more SGEs than the QP"},
    Cause{"ibv_post_recv", ENOMEM, "the receive queue is full: poll completions before you post more"},
    Cause{"bind", EADDRINUSE, "another program listens on this TCP port: choose another one with -p"},
    Cause{"bind", EACCES, "ports below 1024 need privileges: choose another one with -p"},
    Cause{"connect", ETIMEDOUT, "the server's host does not answer: is it up, is the address right?"},
    Cause{"connect", ECONNREFUSED, "nobody listens there: start the server first, and use the same -p on both sides"},
};

constexpr std::array status_names{
    "SUCCESS",          "LOC_LEN_ERR",       "LOC_QP_OP_ERR",     "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",     "WR_FLUSH_ERR",      "MW_BIND_ERR",       "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",   "REM_ACCESS_ERR",    "REM_OP_ERR",
    "RETRY_EXC_ERR",    "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",    "INV_EECN_ERR",      "INV_EEC_STATE_ERR", "FATAL_ERR",
    "RESP_TIMEOUT_ERR", "GENERAL_ERR",
};

}  // namespace

VerbError::VerbError(std::string_view verb, int code, std::string_view object)
    : Error([&] {
        std::string text{verb};
        text += ": " + errno_text(code);
        if (!object.empty()) {
          text += ", ";
          text += object;
        }
        if (const auto cause = likely_cause(verb, code); !cause.empty()) {
          text += ". Likely: ";
          text += cause;
        }
        return text;
      }()),
      verb_{verb},
      code_{code} {}

std::string errno_text(int code) {
  if (code == 0) {
    return "no reason given";
  }
  const char* const name = strerrorname_np(code);
  if (name == nullptr) {
    return "error " + std::to_string(code);
  }
  return std::string{name} + " (" + strerrordesc_np(code) + ")";
}

std::string_view likely_cause(std::string_view verb, int code) {
  const auto* const found =
      std::ranges::find_if(causes, [&](const Cause& cause) { return cause.verb == verb && cause.code == code; });
  return found == causes.end() ? std::string_view{} : found->text;
}

void check_errno(int result, std::string_view verb, std::string_view object) {
  if (result != 0) {
    throw VerbError(verb, result, object);
  }
}

int check_minus_one(int result, std::string_view verb, std::string_view object) {
  if (result == -1) {
    throw VerbError(verb, errno, object);
  }
  return result;
}

int check_refusal(int result, std::initializer_list<int> refusals, std::string_view verb, std::string_view object) {
  if (result != 0 && std::ranges::find(refusals, result) == refusals.end()) {
    throw VerbError(verb, result, object);
  }
  return result;
}

int check_poll(int result) {
  if (result < 0) {
    throw Error("ibv_poll_cq: it returned " + std::to_string(result) + ": the completion queue is broken");
  }
  return result;
}

std::string status_text(ibv_wc_status status) {
  const auto number = static_cast<std::size_t>(status);
  const std::string name = number < status_names.size() ? status_names[number] : "status";
  return name + " (" + std::to_string(number) + ")";
}

std::string_view likely_cause(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
      return "the posted receive is too small for the message, or the message is longer than the port allows";
    case IBV_WC_LOC_QP_OP_ERR:
      return "the request itself is bad; on Soft-RoCE also an unknown lkey or a receive that is too small";
    case IBV_WC_LOC_PROT_ERR:
      return "an SGE reaches outside its memory region, or its lkey is wrong, of another PD, or lacks LOCAL_WRITE";
    case IBV_WC_WR_FLUSH_ERR:
      return "the QP was already in the ERR state; the first error completion before this one has the cause";
    case IBV_WC_REM_INV_REQ_ERR:
      return "the peer refused the request: its receive is too small, or its QP does not allow this operation";
    case IBV_WC_REM_ACCESS_ERR:
      return "the peer's memory region does not allow it: wrong rkey, range or access flags";
    case IBV_WC_REM_OP_ERR:
      return "the peer could not carry it out; its own completion says why (on Soft-RoCE: its receive is too small)";
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer does not answer: dead, wrong QP number or GID, not yet in RTR, or a path MTU too large";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the peer has no receive posted";
    default:
      return {};
  }
}

std::string describe_error(const ibv_wc& completion) {
  std::array<char, 24> vendor{};
  std::snprintf(vendor.data(), vendor.size(), "0x%x", completion.vendor_err);
  std::string text = "completion with " + status_text(completion.status) + ", wr_id " +
                     std::to_string(completion.wr_id) + ", QP " + std::to_string(completion.qp_num) + ", vendor_err " +
                     vendor.data();
  if (const auto cause = likely_cause(completion.status); !cause.empty()) {
    text += ". Likely: ";
    text += cause;
  }
  return text;
}

void check_completion(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    throw Error(describe_error(completion));
  }
}

}  // namespace lab
