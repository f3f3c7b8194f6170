// Why a completion has failed: the causes that its status can have, those first that the history of its QP makes
// likely.
#include "datapath.hpp"
#include "names.hpp"
#include "transition.hpp"

#include <algorithm>

namespace verbs_check {

namespace {

// Causes in the order of their likelihood: what is known for certain stands alone.
class Causes {
public:
  void certain(bool holds, const std::string& text) {
    if (holds) {
      certain_ += (certain_.empty() ? "" : "; ") + text;
    }
  }
  void likely(const std::string& text) { likely_ += (likely_.empty() ? "" : "; ") + text; }

  [[nodiscard]] std::string text() const {
    return certain_.empty() ? "likely, in this order: " + likely_ : "the cause: " + certain_;
  }

private:
  std::string certain_;
  std::string likely_;
};

bool takes_receive(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

std::string bytes_of(ibv_mtu mtu) { return std::to_string(128U << (static_cast<unsigned>(mtu) & 7U)); }

unsigned right_for(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_READ:
      return IBV_ACCESS_REMOTE_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_ACCESS_REMOTE_ATOMIC;
    default:
      return IBV_ACCESS_REMOTE_WRITE;
  }
}

const char* id_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
      return "wc-loc-len-err";
    case IBV_WC_LOC_QP_OP_ERR:
      return "wc-loc-qp-op-err";
    case IBV_WC_LOC_PROT_ERR:
      return "wc-loc-prot-err";
    case IBV_WC_WR_FLUSH_ERR:
      return "wc-flush-err";
    case IBV_WC_REM_INV_REQ_ERR:
      return "wc-rem-inv-req-err";
    case IBV_WC_REM_ACCESS_ERR:
      return "wc-rem-access-err";
    case IBV_WC_REM_OP_ERR:
      return "wc-rem-op-err";
    case IBV_WC_RETRY_EXC_ERR:
      return "wc-retry-exc-err";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "wc-rnr-retry-exc-err";
    default:
      return "wc-other-err";
  }
}

}  // namespace

// The QP at the other end, when it belongs to this process too. Its number alone does not tell: the first QP of each
// host may have the same.
const void* DataPath::peer_of(const Queues& queues) const {
  const auto found = std::ranges::find_if(qps_, [&](const auto& entry) {
    const Queues& candidate = entry.second;
    return queues.attributes.to_own_address && candidate.number == queues.attributes.dest_qp_num &&
           candidate.type == queues.type;
  });
  return found == qps_.end() ? nullptr : found->first;
}

// What is wrong with the remote memory that a request names, as far as it is this process's own.
std::string DataPath::remote_memory_text(const Queues& queues, const Request& request) const {
  const std::uint64_t length = request.ranges.length();
  const unsigned right = right_for(request.opcode);
  const auto named = std::ranges::find_if(
      regions_, [&](const auto& entry) { return entry.second.rkey == request.rkey && entry.second.rkey != 0; });
  if (named == regions_.end()) {
    const bool has_no_right = std::ranges::any_of(regions_, [&](const auto& entry) {
      const Region& region = entry.second;
      return (region.access & right) == 0 && region.begin <= request.remote_addr &&
             request.remote_addr - region.begin < region.length;
    });
    if (request.rkey == 0 && has_no_right) {
      return "the rkey is 0: the memory region at the remote address was registered without " + access_names(right) +
             ", and has none";
    }
    const std::uint32_t swapped = __builtin_bswap32(request.rkey);
    if (std::ranges::any_of(regions_, [&](const auto& entry) { return entry.second.rkey == swapped; })) {
      return "the bytes of the rkey " + hex(request.rkey) + " are swapped: it is " + hex(swapped);
    }
    return "no memory region has the rkey " + hex(request.rkey) + " now";
  }
  const Region& region = named->second;
  const Queues* const peer = find(peer_of(queues));
  if (peer != nullptr && region.pd != peer->pd) {
    return "the memory region belongs to another PD than the peer's QP";
  }
  if (request.remote_addr < region.begin || length > region.length ||
      request.remote_addr - region.begin > region.length - length) {
    return std::to_string(length) + " bytes at the remote address are not all in the memory region of " +
           std::to_string(region.length) + " bytes";
  }
  if ((region.access & right) == 0) {
    return "the memory region was registered without " + access_names(right);
  }
  return {};
}

std::optional<Fault> DataPath::fault_of_status(const Queues& queues, const Request* request,
                                               const ibv_wc& completion) const {
  const ibv_wc_status status = completion.status;
  // What follows the first failure, what the program has asked for itself, and what was explained at the post is no
  // news.
  if (queues.failed || queues.failed_on_purpose || (request != nullptr && request->was_faulty)) {
    return std::nullopt;
  }
  const bool is_send = request != nullptr && request->is_send;
  const Attributes& attributes = queues.attributes;
  const void* const other = request == nullptr ? nullptr : peer_of(queues);
  const Queues* const other_end = find(other);
  if (other_end != nullptr && other_end->failed && other_end->attributes.dest_qp_num == queues.number) {
    return std::nullopt;  // the same failure, as the other side sees it
  }
  const Queues* const peer = is_send ? other_end : nullptr;
  // Of a receive that has failed: its room, and whether the sender, in this process too, has sent more.
  const std::uint64_t bytes = request == nullptr ? 0 : request->ranges.length();
  const std::string room = std::to_string(bytes);
  const Queues* const sender = is_send ? nullptr : other_end;
  const bool too_short = sender != nullptr && !sender->sends.empty() && takes_receive(sender->sends.front().opcode) &&
                         sender->sends.front().ranges.length() > bytes;
  Causes causes;
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR: {
      const std::string number = hex(attributes.dest_qp_num);
      causes.certain(
          peer != nullptr && (peer->state == IBV_QPS_RESET || peer->state == IBV_QPS_INIT),
          std::string{"the QP at the other end is still in "} + (peer == nullptr ? "" : state_name(peer->state)));
      causes.certain(peer != nullptr && peer->attributes.dest_qp_num != queues.number && peer->state >= IBV_QPS_RTR,
                     "the QP at the other end is connected to another QP, not to this one");
      causes.certain(peer != nullptr && peer->state >= IBV_QPS_RTR && peer->attributes.rq_psn != attributes.sq_psn,
                     "this QP begins with sq_psn " + hex(attributes.sq_psn) + ", and the other expects rq_psn " +
                         hex(peer == nullptr ? 0 : peer->attributes.rq_psn));
      causes.likely("no QP " + number +
                    " (dest_qp_num) waits at the address of the peer: is the number the peer's, and in "
                    "host byte order?");
      causes.likely("the peer has ended, or has destroyed or reset its QP");
      causes.likely("the peer's QP is not in RTR or RTS yet, or is connected to another QP");
      causes.likely("sq_psn here is not rq_psn there");
      causes.likely("the GID is not the peer's, or sgid_index names an address that does not reach it");
      causes.likely("path_mtu is larger than the path carries");
      causes.likely("timeout " + std::to_string(attributes.timeout) + " with retry_cnt " +
                    std::to_string(attributes.retry_cnt) + " is too short for this path");
      break;
    }
    case IBV_WC_RNR_RETRY_EXC_ERR:
      causes.certain(peer != nullptr && peer->receives.empty() && peer->srq == nullptr,
                     "the other end has no receive posted, and rnr_retry " + std::to_string(attributes.rnr_retry) +
                         " of this QP is used up");
      causes.likely(
          "the peer had posted no receive when the message came: it posts too late, or fewer than are sent "
          "(an RDMA write with immediate data takes one too)");
      causes.likely("the peer is too slow for rnr_retry " + std::to_string(attributes.rnr_retry) +
                    " (of this QP) and the min_rnr_timer of its own QP");
      break;
    case IBV_WC_REM_ACCESS_ERR: {
      const std::string known = is_send && peer != nullptr ? remote_memory_text(queues, *request) : std::string{};
      causes.certain(!known.empty(), known);
      causes.likely(
          "the rkey is not one of the peer now: the lkey was sent in its place, the bytes were swapped, or the "
          "memory region is deregistered");
      causes.likely("the remote address and length leave the peer's memory region");
      if (is_send) {
        causes.likely("the peer has registered it without " + access_names(right_for(request->opcode)));
      }
      causes.likely("the memory region belongs to another PD than the peer's QP");
      break;
    }
    case IBV_WC_REM_INV_REQ_ERR:
      causes.certain(is_send && peer != nullptr && !takes_receive(request->opcode) &&
                         (peer->attributes.access & right_for(request->opcode)) == 0,
                     "the QP at the other end has no " +
                         (is_send ? access_names(right_for(request->opcode)) : std::string{}) + " in qp_access_flags");
      causes.certain(is_send && peer != nullptr && peer->attributes.max_dest_rd_atomic == 0 &&
                         (request->opcode == IBV_WR_RDMA_READ || request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                          request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD),
                     "the QP at the other end has max_dest_rd_atomic 0");
      causes.likely("the peer's qp_access_flags do not allow the operation");
      causes.likely("the message is longer than the receive of the peer (hardware; on Soft-RoCE REM_OP_ERR)");
      causes.likely("max_dest_rd_atomic of the peer is 0, or smaller than max_rd_atomic here");
      causes.likely("the remote address of an atomic is no multiple of 8");
      break;
    case IBV_WC_REM_OP_ERR:
      causes.certain(is_send && peer != nullptr && !peer->receives.empty() &&
                         peer->receives.front().ranges.length() < request->ranges.length(),
                     "the message of " + std::to_string(is_send ? request->ranges.length() : 0) +
                         " bytes is longer than the receive of the peer");
      causes.likely("the receive of the peer is shorter than the message (Soft-RoCE; hardware says REM_INV_REQ_ERR)");
      causes.likely(
          "the receive of the peer has a wrong lkey, leaves its memory region, or may not be written "
          "(LOCAL_WRITE)");
      causes.likely("the peer has deregistered the memory of its receive");
      break;
    case IBV_WC_LOC_LEN_ERR:
      if (is_send) {
        causes.likely(
            "the message is longer than max_msg_sz of the port (hardware may refuse it; Soft-RoCE carries it)");
      } else {
        causes.certain(too_short, "the message is longer than the receive, which is " + room + " bytes");
        causes.likely("the message is longer than the receive, which is " + room + " bytes");
        causes.certain(sender != nullptr && sender->attributes.path_mtu > attributes.path_mtu,
                       "path_mtu is " + bytes_of(attributes.path_mtu) + " here and " +
                           bytes_of(sender == nullptr ? attributes.path_mtu : sender->attributes.path_mtu) +
                           " at the other end");
        causes.likely("path_mtu of the two QPs is not the same");
      }
      break;
    case IBV_WC_LOC_QP_OP_ERR:
      if (is_send) {
        causes.likely("an lkey is not one of this PD now (Soft-RoCE; hardware says LOC_PROT_ERR)");
        causes.likely(
            "the message is longer than max_msg_sz of the port (hardware may refuse it; Soft-RoCE carries it)");
      } else {
        causes.certain(too_short, "the message is longer than the receive, which is " + room + " bytes");
        causes.likely("the message is longer than the receive, which is " + room +
                      " bytes (Soft-RoCE; hardware says LOC_LEN_ERR)");
        causes.likely("the memory of the receive was deregistered before the message came");
      }
      break;
    case IBV_WC_LOC_PROT_ERR:
      causes.likely("the memory region was deregistered after the request was posted");
      causes.likely("the rkey stands in an SGE in place of the lkey (equal on Soft-RoCE: see --strict)");
      causes.likely("an SGE leaves its memory region, or LOCAL_WRITE is missing where the device has to write");
      break;
    case IBV_WC_WR_FLUSH_ERR:
      if (sender != nullptr && !sender->sends.empty() && sender->sends.front().rkey != 0) {
        const std::string refused = remote_memory_text(*sender, sender->sends.front());
        causes.certain(!refused.empty(), "the peer's " + std::string{opcode_name(sender->sends.front().opcode)} +
                                             " before was refused by this side: " + refused);
      }
      causes.likely(
          "the QP went to ERR because of another request, whose completion tells why: is it in a CQ that nobody "
          "polls?");
      causes.likely("the peer's request was refused by this side: look at the status of the peer");
      causes.likely("the connection was closed (rdma_disconnect), or the program moved the QP to ERR");
      break;
    default:
      causes.likely("the device or its driver has failed: its maker can tell what vendor_err " +
                    hex(completion.vendor_err) + " means");
      causes.likely("the request is of a kind that the checker does not follow, such as a memory window");
      break;
  }
  const std::string what = (is_send ? std::string{opcode_name(request->opcode)} : std::string{"a receive"}) +
                           " has failed with " + std::string{status_name(status)} + " (" +
                           std::to_string(static_cast<int>(status)) + ")";
  return Fault{id_of(status),
               what,
               causes.text(),
               "mend the cause; of this completion only wr_id, status, qp_num and vendor_err mean anything, not its "
               "opcode; the QP is "
               "in ERR now: poll what is left, and bring it to RESET to begin anew",
               request == nullptr ? nullptr : request->where,
               {other}};
}

}  // namespace verbs_check
