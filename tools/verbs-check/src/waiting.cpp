// Why am I hanging: a program polls a CQ, and nothing comes.
#include "datapath.hpp"
#include "names.hpp"
#include "transition.hpp"

#include <algorithm>

namespace verbs_check {

namespace {

std::string count_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// "RTS, 1 signalled and 2 unsignalled sends and 3 receives outstanding, retry_cnt 7, timeout 14, rnr_retry 7"
std::string state_text(const Queues& queues) {
  const auto signalled = static_cast<std::size_t>(std::ranges::count_if(queues.sends, &Request::is_signalled));
  std::string text = std::string{state_name(queues.state)} + ", " + std::to_string(signalled) + " signalled and " +
                     count_text(queues.sends.size() - signalled, "unsignalled send") + " and " +
                     count_text(queues.receives.size(), "receive") + " outstanding";
  if (queues.type == IBV_QPT_RC) {
    text += ", retry_cnt " + std::to_string(queues.attributes.retry_cnt) + ", timeout " +
            std::to_string(queues.attributes.timeout) + ", rnr_retry " + std::to_string(queues.attributes.rnr_retry);
  }
  return text;
}

// What can keep a send from ever completing, the likely first.
std::string endless_causes(const Queues& queues, const Request& request) {
  std::string text;
  const auto add = [&](bool holds, const char* cause) {
    if (holds) {
      text += (text.empty() ? "" : "; ") + std::string{cause};
    }
  };
  const Attributes& attributes = queues.attributes;
  const bool takes_receive = request.opcode == IBV_WR_SEND || request.opcode == IBV_WR_SEND_WITH_IMM ||
                             request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const bool is_atomic = request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  add(takes_receive && attributes.rnr_retry == 7,
      "the peer has posted no receive, and rnr_retry 7 waits for it for ever");
  add((request.opcode == IBV_WR_RDMA_READ || is_atomic) && attributes.max_rd_atomic == 0,
      "max_rd_atomic is 0, so no read or atomic can begin");
  add(is_atomic, "Soft-RoCE gives no completion for an atomic at an address that is no multiple of 8");
  add(attributes.timeout == 0, "timeout 0 waits for an acknowledgement for ever");
  add(attributes.retry_cnt == 7,
      "the peer is gone or was never connected (its QP number, its GID, its state), and with retry_cnt 7 Soft-RoCE "
      "never "
      "gives up");
  add(true, "path_mtu is larger than the path carries: small messages pass, large ones do not");
  return text;
}

}  // namespace

std::optional<Fault> DataPath::fault_of_waiting(const void* cq, std::uint64_t since) const {
  const auto found = cqs_.find(cq);
  if (found == cqs_.end() || !found->second.is_watched) {
    return std::nullopt;
  }
  std::vector<const Queues*> here;
  std::vector<const void*> objects{};
  for (const auto& [number, qp] : found->second.qps) {
    const Queues& queues = qps_.at(qp);
    if (!queues.is_watched || queues.srq != nullptr) {
      return std::nullopt;
    }
    here.push_back(&queues);
    objects.push_back(qp);
  }
  std::string states;
  for (const Queues* const queues : here) {
    states += (states.empty() ? "" : " | ") + state_text(*queues);
    if (here.size() > 4) {
      states = std::to_string(here.size()) + " QPs";
      break;
    }
  }
  const std::string what = "polling a CQ to which nothing comes: ";
  const std::string why = "state of the QPs that complete there: " + states;
  if (here.empty()) {
    return Fault{"wait-nothing-posted", what + "no living QP completes there",
                 "a completion comes only from a request that was posted on a QP of this CQ",
                 "poll the CQ that was given to ibv_create_qp as send_cq or recv_cq, and as long as the QP lives"};
  }
  const Request* oldest = nullptr;
  const Queues* of_oldest = nullptr;
  std::size_t unsignalled = 0;
  std::size_t receives = 0;
  std::size_t elsewhere = 0;
  bool can_receive = false;
  for (const Queues* const queues : here) {
    if (queues->recv_cq == cq) {
      receives += queues->receives.size();
      can_receive =
          can_receive || queues->state == IBV_QPS_RTR || queues->state == IBV_QPS_RTS || queues->state == IBV_QPS_ERR;
      elsewhere += queues->send_cq != cq ? queues->sends.size() : 0;
    }
    if (queues->send_cq == cq) {
      elsewhere += queues->recv_cq != cq ? queues->receives.size() : 0;
      for (const Request& request : queues->sends) {
        if (!request.is_signalled) {
          ++unsignalled;
        } else if (oldest == nullptr || request.sequence < oldest->sequence) {
          oldest = &request;
          of_oldest = queues;
        }
      }
    }
  }
  if (oldest != nullptr) {
    if (oldest->sequence > since) {
      return std::nullopt;  // it was posted while the program was waiting already: it may yet come
    }
    return Fault{
        "wait-no-answer",
        what + std::string{opcode_name(oldest->opcode)} + " is under way all the time",
        "likely, in this order: " + endless_causes(*of_oldest, *oldest) + ". " + why,
        "look at both sides: QP numbers, GIDs and states; post receives before the peer sends; use a retry_cnt "
        "and rnr_retry below 7 and a timeout, so that a failure is reported; give each wait a deadline",
        nullptr,
        objects};
  }
  if (receives > 0 && can_receive) {
    return std::nullopt;  // a message may come at any time
  }
  if (receives > 0) {
    return Fault{"wait-not-connected",
                 what + "receives are posted on a QP that is not in RTR",
                 why,
                 "bring the QP to RTR and RTS with the address of the peer",
                 nullptr,
                 objects};
  }
  if (unsignalled > 0) {
    return Fault{"wait-unsignalled",
                 what + "what was posted is unsignalled",
                 "an unsignalled request leaves no completion when it succeeds. " + why,
                 "set IBV_SEND_SIGNALED on the request that is waited for (or sq_sig_all of the QP)",
                 nullptr,
                 objects};
  }
  if (elsewhere > 0) {
    return Fault{"wait-wrong-cq",
                 what + "what was posted completes in the other CQ of the QP",
                 "sends complete in send_cq, receives in recv_cq of ibv_qp_init_attr. " + why,
                 "poll the other CQ",
                 nullptr,
                 objects};
  }
  return Fault{
      "wait-nothing-posted",
      what + "nothing is posted that could complete there",
      "each completion belongs to a posted request; a message needs a receive, and an RDMA write of the peer leaves "
      "no completion here. " +
          why,
      "post first, and count: one completion for each signalled send and each receive",
      nullptr,
      objects};
}

}  // namespace verbs_check
