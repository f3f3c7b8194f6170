// What is wrong with a request, and with giving up memory that a request still needs.
#include "datapath.hpp"
#include "names.hpp"
#include "transition.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace verbs_check {

namespace {

// "of 64 bytes at offset 8 of a memory region of 48 bytes". Offsets, which are the same in every run, wherever they
// mean something.
std::string range_text(const ibv_sge& range, const Region& region) {
  const std::string bytes = "of " + std::to_string(range.length) + " bytes ";
  const std::string whole = "a memory region of " + std::to_string(region.length) + " bytes";
  if (range.addr >= region.begin && range.addr - region.begin <= region.length) {
    return bytes + "at offset " + std::to_string(range.addr - region.begin) + " of " + whole;
  }
  if (range.addr < region.begin && region.begin - range.addr <= range.length) {
    return bytes + "from " + std::to_string(region.begin - range.addr) + " bytes before " + whole + " on";
  }
  return bytes + "at " + hex(range.addr) + ", which is nowhere in " + whole + " at " + hex(region.begin);
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

bool is_send(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

// Whether a part of it is mapped nowhere: what stays mapped after it was given back may belong to the program again.
bool is_unmapped(std::uint64_t begin, std::uint64_t end) {
  constexpr std::size_t pages = 64;
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<unsigned char, pages> answer{};
  for (std::uint64_t at = begin / page * page; at < end; at += pages * page) {
    const std::uint64_t bytes = std::min<std::uint64_t>(pages * page, end - at);
    if (mincore(reinterpret_cast<void*>(at), bytes, answer.data()) != 0 && errno == ENOMEM) {
      return true;
    }
  }
  return false;
}

// The table of ibv_post_send(3): which operations a QP of this type offers.
bool is_offered(ibv_qp_type type, ibv_wr_opcode opcode) {
  switch (type) {
    case IBV_QPT_UD:
      return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_TSO;
    case IBV_QPT_UC:
      return opcode != IBV_WR_RDMA_READ && !is_atomic(opcode);
    default:
      return true;
  }
}

Fault sge_fault(const char* verb, int count, std::uint32_t most, const char* capability) {
  return {
      "sge-too-many",
      std::string{verb} + " of a request with " + std::to_string(count) + " SGEs on a QP that was asked for " +
          capability + " " + std::to_string(most),
      "the queue has room for so many in each request; hardware answers EINVAL or ENOMEM, a device that granted more "
      "than was asked for takes it",
      std::string{"ask for more by "} + capability + ", or use fewer SGEs"};
}

}  // namespace

std::optional<Fault> DataPath::fault_of_memory(const void* pd, const ibv_sge& range, bool is_written,
                                               const char* verb) const {
  if (range.length == 0) {
    return std::nullopt;
  }
  const Region* const region = region_of(range.lkey, pd);
  if (region == nullptr) {
    const auto by_rkey = std::ranges::find_if(
        regions_, [&](const auto& entry) { return range.lkey != 0 && entry.second.rkey == range.lkey; });
    const bool is_rkey = by_rkey != regions_.end();
    Fault fault{"lkey-unknown",
                std::string{verb} + " with lkey " + hex(range.lkey) +
                    (is_rkey ? ", which is the rkey of a memory region" : ", which no memory region has now"),
                "the request will fail with LOC_PROT_ERR (on Soft-RoCE: LOC_QP_OP_ERR), and take the QP to ERR",
                is_rkey ? "the lkey goes into the SGE, the rkey to the peer"
                        : "take the lkey from the ibv_mr, and keep it registered until the completion is polled"};
    if (is_rkey) {
      fault.objects.push_back(by_rkey->first);
    }
    return fault;
  }
  if (region->pd != pd) {
    return Fault{"lkey-other-pd",
                 std::string{verb} + " with the lkey of a memory region of another PD",
                 "a QP may use memory of its own PD only; the request will fail and take the QP to ERR",
                 "register the memory in the PD of the QP",
                 nullptr,
                 {region->mr}};
  }
  if (range.addr < region->begin || range.length > region->length ||
      range.addr - region->begin > region->length - range.length) {
    return Fault{"sge-outside-mr",
                 std::string{verb} + " " + range_text(range, *region),
                 "the device does not go beyond its end: the request fails with LOC_PROT_ERR (a receive on Soft-RoCE: "
                 "LOC_QP_OP_ERR) and takes the QP to ERR",
                 "register all of the buffer, and post at most what is registered",
                 nullptr,
                 {region->mr}};
  }
  if (is_written && (region->access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return Fault{"mr-not-writable",
                 std::string{verb} + " with a memory region without IBV_ACCESS_LOCAL_WRITE",
                 "the device has to write there: for a receive, and for the local side of an RDMA read or an atomic",
                 "register it with IBV_ACCESS_LOCAL_WRITE",
                 nullptr,
                 {region->mr}};
  }
  for (const GivenBack& part : region->given_back) {
    const std::uint64_t begin = std::max(part.begin, range.addr);
    const std::uint64_t end = std::min(part.end, range.addr + range.length);
    if (begin < end && is_unmapped(begin, end)) {
      return Fault{"freed-before-post",
                   std::string{verb} + " with memory that " + part.function + " has given back",
                   "the device still has the pages that were locked when the region was registered, but the program "
                   "has them no more: nobody knows what is sent, and nobody can read what is received",
                   "deregister memory before it is given back, and register anew what is allocated anew",
                   nullptr,
                   {region->mr}};
    }
  }
  return std::nullopt;
}

std::optional<Fault> DataPath::fault_of_capacity(const void* cq) const {
  const Completions* const found = const_cast<DataPath*>(this)->find_cq(cq);
  if (found == nullptr || !found->is_watched || found->outstanding < found->entries) {
    return std::nullopt;
  }
  return Fault{
      "cq-overrun",
      "request " + std::to_string(found->outstanding + 1) + " that can leave a completion in a CQ that was asked for " +
          std::to_string(found->entries),
      "a CQ that is full loses completions: on hardware it is dead then (IBV_EVENT_CQ_ERR) and the QP goes to ERR; "
      "Soft-RoCE drops them silently and raises the event",
      "ask ibv_create_cq for at least max_send_wr and max_recv_wr of all its QPs together, or poll before posting "
      "more",
      nullptr,
      {cq}};
}

std::vector<Fault> DataPath::faults_of_send(const void* qp, const ibv_send_wr& request) const {
  std::vector<Fault> faults;
  const Queues* const found = find(qp);
  if (found == nullptr || !found->is_watched) {
    return faults;
  }
  const Queues& queues = *found;
  if (queues.state == IBV_QPS_RESET || queues.state == IBV_QPS_INIT || queues.state == IBV_QPS_RTR) {
    faults.push_back({"post-wrong-state", std::string{"ibv_post_send on a QP in "} + state_name(queues.state),
                      "only a QP in RTS sends; Soft-RoCE answers EINVAL and yet may carry the request out later",
                      "bring the QP to RTS first"});
  }
  if (queues.failed && !queues.failed_on_purpose) {
    faults.push_back({"error-ignored",
                      "ibv_post_send on a QP whose completion with status " + std::string{status_name(*queues.failed)} +
                          " was polled",
                      "the QP is in ERR: this request, and each that follows, comes back with IBV_WC_WR_FLUSH_ERR and "
                      "carries nothing; the first status that is not a success tells what went wrong",
                      "look at ibv_wc.status of each completion; after a failure stop posting, poll what is left, and "
                      "bring the QP to RESET to begin anew"});
  }
  if (queues.sends.size() >= queues.asked.max_send_wr && queues.state == IBV_QPS_RTS) {
    faults.push_back({"send-queue-full",
                      "ibv_post_send of request " + std::to_string(queues.sends.size() + 1) + " to a send queue of " +
                          std::to_string(queues.asked.max_send_wr),
                      "slots come back only when the completion of a signalled send is polled; hardware answers ENOMEM "
                      "here, Soft-RoCE goes on",
                      "signal at least one send in every half queue, and poll its completion before going on"});
  }
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  const bool is_signalled = queues.all_signalled || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  if (is_signalled) {
    if (auto fault = fault_of_capacity(queues.send_cq)) {
      faults.push_back(std::move(*fault));
    }
  }
  if (!is_offered(queues.type, request.opcode)) {
    faults.push_back({"opcode-not-offered",
                      "ibv_post_send of " + std::string{opcode_name(request.opcode)} + " on a QP of type " +
                          std::string{type_name(queues.type)},
                      "a UD QP only sends, a UC QP sends and writes; reads and atomics need an RC QP",
                      "use an RC QP, or another operation: see the table in ibv_post_send(3)"});
    return faults;
  }
  if (request.num_sge > 0 && static_cast<std::uint32_t>(request.num_sge) > queues.asked.max_send_sge) {
    faults.push_back(sge_fault("ibv_post_send", request.num_sge, queues.asked.max_send_sge, "max_send_sge"));
  }
  std::uint64_t length = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    length += request.sg_list[i].length;
  }
  if (is_inline && length > queues.asked.max_inline_data) {
    faults.push_back(
        {"inline-too-long",
         "ibv_post_send of " + std::to_string(length) +
             " bytes with IBV_SEND_INLINE on a QP that was asked for max_inline_data " +
             std::to_string(queues.asked.max_inline_data),
         "inline data is copied into the request, and has only the room that was asked for; a device that "
         "granted more takes it, another answers EINVAL or ENOMEM",
         "ask for max_inline_data when the QP is made and look at what was granted, or leave the flag away "
         "and register the memory"});
  }
  if (queues.type == IBV_QPT_UD &&
      length > (std::uint64_t{128} << (static_cast<unsigned>(queues.attributes.path_mtu) & 7U))) {
    faults.push_back(
        {"ud-above-mtu",
         "ibv_post_send of " + std::to_string(length) + " bytes on a UD QP, whose port has an active MTU of " +
             std::to_string(128U << (static_cast<unsigned>(queues.attributes.path_mtu) & 7U)),
         "a datagram is one packet; a longer one is refused, or (Soft-RoCE) reported as sent and never arrives",
         "send at most active_mtu bytes, or use RC"});
  } else if (queues.max_message != 0 && length > queues.max_message) {
    faults.push_back({"message-too-long",
                      "ibv_post_send of " + std::to_string(length) + " bytes; the port's max_msg_sz is " +
                          std::to_string(queues.max_message),
                      "the port does not promise to carry it: the post is refused, or the request fails with "
                      "LOC_LEN_ERR; Soft-RoCE carries it",
                      "send it in parts"});
  }
  if (is_atomic(request.opcode) && (request.wr.atomic.remote_addr % 8 != 0 || length != 8 || request.num_sge != 1)) {
    faults.push_back(
        {"atomic-misaligned",
         "ibv_post_send of " + std::string{opcode_name(request.opcode)} + " on " + std::to_string(length) +
             " bytes at a remote address that is " + (request.wr.atomic.remote_addr % 8 == 0 ? "" : "not ") +
             "a multiple of 8",
         "an atomic works on 8 bytes at an address that is a multiple of 8, with one SGE of 8 bytes for the "
         "old value; hardware answers with REM_INV_REQ_ERR, Soft-RoCE with EINVAL or not at all",
         "align the counter (alignas(8)), and give one SGE of 8 bytes"});
  }
  if ((request.opcode == IBV_WR_RDMA_READ || is_atomic(request.opcode)) && queues.state == IBV_QPS_RTS &&
      queues.attributes.max_rd_atomic == 0) {
    faults.push_back({"rd-atomic-zero",
                      "ibv_post_send of " + std::string{opcode_name(request.opcode)} + " on a QP with max_rd_atomic 0",
                      "the QP may have no read or atomic under way: the request waits for ever, or fails",
                      "set max_rd_atomic in the step to RTS, and max_dest_rd_atomic of the peer, to at least 1"});
  }
  if (!is_send(request.opcode) && !is_atomic(request.opcode) && request.opcode != IBV_WR_LOCAL_INV &&
      request.opcode != IBV_WR_BIND_MW && request.opcode != IBV_WR_TSO && length > 0 && request.wr.rdma.rkey != 0) {
    const auto has = [&](std::uint32_t Region::*key) {
      return std::ranges::find_if(regions_,
                                  [&](const auto& entry) { return entry.second.*key == request.wr.rdma.rkey; });
    };
    if (const auto region = has(&Region::lkey); region != regions_.end() && has(&Region::rkey) == regions_.end()) {
      faults.push_back(
          {"rkey-is-lkey",
           "ibv_post_send with the lkey of a memory region as rkey",
           "the peer's device looks it up among its rkeys: REM_ACCESS_ERR, or somebody else's memory",
           "send the peer the rkey of the ibv_mr, never the lkey; that both are equal on some device is luck",
           nullptr,
           {region->first}});
    }
  }
  const bool is_written = request.opcode == IBV_WR_RDMA_READ || is_atomic(request.opcode);
  for (int i = 0; i < request.num_sge && !is_inline; ++i) {
    if (auto fault = fault_of_memory(queues.pd, request.sg_list[i], is_written, "ibv_post_send")) {
      faults.push_back(std::move(*fault));
    }
  }
  return faults;
}

void DataPath::faults_of_list(const void* pd, const ibv_recv_wr& request, const char* verb, std::uint32_t max_sge,
                              std::vector<Fault>& faults) const {
  if (request.num_sge > 0 && static_cast<std::uint32_t>(request.num_sge) > max_sge) {
    faults.push_back(sge_fault(verb, request.num_sge, max_sge, "max_recv_sge"));
  }
  for (int i = 0; i < request.num_sge; ++i) {
    if (auto fault = fault_of_memory(pd, request.sg_list[i], true, verb)) {
      faults.push_back(std::move(*fault));
    }
  }
}

std::vector<Fault> DataPath::faults_of_receive(const void* qp, const ibv_recv_wr& request) const {
  std::vector<Fault> faults;
  const Queues* const found = find(qp);
  if (found == nullptr || !found->is_watched) {
    return faults;
  }
  const Queues& queues = *found;
  if (queues.state == IBV_QPS_RESET) {
    faults.push_back({"post-wrong-state", "ibv_post_recv on a QP in RESET", "receives can be posted from INIT on",
                      "bring the QP to INIT first"});
  }
  if (queues.failed && !queues.failed_on_purpose) {
    faults.push_back({"error-ignored",
                      "ibv_post_recv on a QP whose completion with status " + std::string{status_name(*queues.failed)} +
                          " was polled",
                      "the QP is in ERR: no message comes any more, and each receive comes back with "
                      "IBV_WC_WR_FLUSH_ERR; hardware may answer ENOMEM",
                      "look at ibv_wc.status of each completion; after a failure stop posting, poll what is left, and "
                      "bring the QP to RESET to begin anew"});
  }
  if (queues.receives.size() >= queues.asked.max_recv_wr && queues.state != IBV_QPS_RESET && queues.srq == nullptr) {
    faults.push_back(
        {"receive-queue-full",
         "ibv_post_recv of request " + std::to_string(queues.receives.size() + 1) + " to a receive queue of " +
             std::to_string(queues.asked.max_recv_wr),
         "a slot comes back when the completion of its receive is polled; a device that granted just what was "
         "asked for answers ENOMEM",
         "post at most max_recv_wr receives, and a new one for each completion that was polled"});
  }
  if (auto fault = fault_of_capacity(queues.recv_cq)) {
    faults.push_back(std::move(*fault));
  }
  constexpr std::uint64_t grh = 40;
  std::uint64_t length = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    length += request.sg_list[i].length;
  }
  if (queues.type == IBV_QPT_UD && length < grh) {
    faults.push_back(
        {"ud-no-room-for-grh", "ibv_post_recv of " + std::to_string(length) + " bytes on a UD QP",
         "the first 40 bytes of a UD receive are for the global routing header, also where there is none: no "
         "message fits; it is lost, and on Soft-RoCE the receive fails with LOC_QP_OP_ERR and takes the QP to ERR",
         "give each receive 40 bytes more than the longest message; the payload begins at byte 40, and "
         "byte_len counts the 40"});
  }
  // With a shared receive queue there are no limits of its own: the verb itself refuses.
  const std::uint32_t max_sge = queues.srq == nullptr ? queues.asked.max_recv_sge : UINT32_MAX;
  faults_of_list(queues.pd, request, "ibv_post_recv", max_sge, faults);
  return faults;
}

std::vector<Fault> DataPath::faults_of_srq_receive(const void* srq, const ibv_recv_wr& request) const {
  std::vector<Fault> faults;
  const auto found = srqs_.find(srq);
  if (found == srqs_.end()) {
    return faults;
  }
  const SharedQueue& queue = found->second;
  if (queue.receives.size() >= queue.depth) {
    faults.push_back(
        {"receive-queue-full",
         "ibv_post_srq_recv of request " + std::to_string(queue.receives.size() + 1) +
             " to a shared receive queue of " + std::to_string(queue.depth),
         "a slot comes back when the completion of its receive is polled; a device that granted just what was "
         "asked for answers ENOMEM",
         "post at most max_wr receives, and a new one for each completion that was polled"});
  }
  faults_of_list(queue.pd, request, "ibv_post_srq_recv", queue.max_sge, faults);
  return faults;
}

// A posted request that certainly is not done: a receive on a QP that can receive, or a send whose completion will
// come.
template <class Uses>
std::optional<Fault> DataPath::fault_of_use(Uses uses, const void* pd, const char* id, const std::string& what,
                                            const char* why) {
  // Whatever comes of such a request now is no news, and its memory may be gone: nobody looks at it again.
  const auto uses_it = [&](Request& request) {
    if (request.is_inline || request.was_faulty) {
      return false;
    }
    for (std::size_t i = 0; i < request.ranges.size(); ++i) {
      if (uses(request.ranges.at(i))) {
        request.hash = 0;
        return true;
      }
    }
    return false;
  };
  const auto uses_it_certainly = [&](RequestQueue& requests, bool is_certain) {
    bool found = false;
    for (Request& request : requests) {
      if (uses_it(request) && is_certain && (!request.is_send || request.is_signalled)) {
        found = request.was_faulty = true;
      }
    }
    return found;
  };
  std::optional<Fault> first;
  const auto keep = [&](bool is_used, const char* kind, const void* queue) {
    if (is_used && !first) {
      first =
          Fault{id,      "the memory of a posted " + std::string{kind} + " " + what,
                why,     "poll the completion first; or destroy the QP, or bring it to ERR and poll what is flushed",
                nullptr, {queue}};
    }
  };
  for (auto& [qp, queues] : qps_) {
    if (pd != nullptr && queues.pd != pd) {
      continue;
    }
    const bool can_receive = queues.state == IBV_QPS_INIT || queues.state == IBV_QPS_RTR || queues.state == IBV_QPS_RTS;
    keep(uses_it_certainly(queues.receives, can_receive), "receive", qp);
    keep(uses_it_certainly(queues.sends, queues.state == IBV_QPS_RTS), "send", qp);
  }
  for (auto& [address, queue] : srqs_) {
    const void* const srq = address;
    if (pd == nullptr || queue.pd == pd) {
      const bool has_qp = std::ranges::any_of(qps_, [&](const auto& entry) { return entry.second.srq == srq; });
      keep(uses_it_certainly(queue.receives, has_qp), "receive", srq);
    }
  }
  return first;
}

std::optional<Fault> DataPath::fault_of_dereg(const void* mr) {
  const auto found = regions_.find(mr);
  if (found == regions_.end()) {
    return std::nullopt;
  }
  return fault_of_use(
      [&](const ibv_sge& range) { return range.lkey == found->second.lkey; }, found->second.pd, "dereg-in-flight",
      "is deregistered while a posted request still needs it",
      "the device may be reading or writing there: the request fails with a protection error, here or at the "
      "peer, and takes the QP to ERR");
}

std::optional<Fault> DataPath::fault_of_free(std::uint64_t begin, std::uint64_t end, const char* function) {
  // Regions are few, requests many: most of what a program gives back is in no region.
  const bool is_registered = std::ranges::any_of(regions_, [&](const auto& entry) {
    return entry.second.begin < end && begin < entry.second.begin + entry.second.length;
  });
  if (!is_registered) {
    return std::nullopt;
  }
  return fault_of_use(
      [&](const ibv_sge& range) { return range.length != 0 && range.addr < end && begin < range.addr + range.length; },
      nullptr, "freed-in-flight",
      std::string{"is given back by "} + function + " while a posted request still needs it",
      "the device keeps the pages: a message may still be written into memory that is somebody else's by now, and what "
      "is "
      "sent is whatever stands there then");
}

}  // namespace verbs_check
