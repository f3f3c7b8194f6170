#include "datapath.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace verbs_check {

namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

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

}  // namespace

void DataPath::add_qp(const void* qp, const Queues& queues) {
  take_qp(qp);  // one that stood there, and went away with its device
  queues_[qp] = queues;
  by_number_.emplace(queues.number, qp);
}

Region DataPath::take_region(const void* mr) {
  const auto taken = regions_.extract(mr);
  return taken.empty() ? Region{} : taken.mapped();
}

Queues DataPath::take_qp(const void* qp) {
  const auto taken = queues_.extract(qp);
  if (taken.empty()) {
    return {};
  }
  std::erase_if(by_number_, [&](const auto& entry) { return entry.second == qp; });
  return taken.mapped();
}

void DataPath::set_state(const void* qp, ibv_qp_state state) {
  if (const auto found = queues_.find(qp); found != queues_.end()) {
    found->second.state = state;
    if (state == IBV_QPS_RESET) {
      found->second.sends.clear();
    }
  }
}

const Queues* DataPath::find(const void* qp) const {
  const auto found = queues_.find(qp);
  return found == queues_.end() ? nullptr : &found->second;
}

const void* DataPath::qp_of(std::uint32_t number, const void* cq) const {
  const auto [begin, end] = by_number_.equal_range(number);
  for (auto candidate = begin; candidate != end; ++candidate) {
    const Queues& queues = queues_.at(candidate->second);
    if (queues.send_cq == cq || queues.recv_cq == cq) {
      return candidate->second;
    }
  }
  return nullptr;
}

std::optional<Fault> DataPath::fault_of_memory(const Queues& queues, const ibv_sge& range, bool is_written,
                                               const char* verb) const {
  if (range.length == 0) {
    return std::nullopt;
  }
  const Region* region = nullptr;
  for (const auto& [mr, candidate] : regions_) {
    // Two devices may give the same key: among equals the one of the PD of the QP is meant.
    if (candidate.lkey == range.lkey && (region == nullptr || candidate.pd == queues.pd)) {
      region = &candidate;
    }
  }
  if (region == nullptr) {
    const bool is_rkey = range.lkey != 0 && std::ranges::any_of(regions_, [&](const auto& entry) {
                           return entry.second.rkey == range.lkey;
                         });
    return Fault{"lkey-unknown",
                 std::string{verb} + " with lkey " + hex(range.lkey) +
                     (is_rkey ? ", which is the rkey of a memory region" : ", which no memory region has now"),
                 "the request will fail with LOC_PROT_ERR (on Soft-RoCE: LOC_QP_OP_ERR), and take the QP to ERR",
                 is_rkey ? "the lkey goes into the SGE, the rkey to the peer"
                         : "take the lkey from the ibv_mr, and keep it registered until the completion is polled"};
  }
  if (region->pd != queues.pd) {
    return Fault{"lkey-other-pd", std::string{verb} + " with the lkey of a memory region of another PD",
                 "a QP may use memory of its own PD only; the request will fail and take the QP to ERR",
                 "register the memory in the PD of the QP"};
  }
  if (range.addr < region->begin || range.length > region->length ||
      range.addr - region->begin > region->length - range.length) {
    return Fault{"sge-outside-mr", std::string{verb} + " " + range_text(range, *region),
                 "the device does not go beyond its end: the request fails with LOC_PROT_ERR (a receive on Soft-RoCE: "
                 "LOC_QP_OP_ERR) and takes the QP to ERR",
                 "register all of the buffer, and post at most what is registered"};
  }
  if (is_written && (region->access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return Fault{"mr-not-writable", std::string{verb} + " with a memory region without IBV_ACCESS_LOCAL_WRITE",
                 "the device has to write there: for a receive, and for the local side of an RDMA read or an atomic",
                 "register it with IBV_ACCESS_LOCAL_WRITE"};
  }
  return std::nullopt;
}

std::vector<Fault> DataPath::faults_of_send(const void* qp, const ibv_send_wr& request) const {
  std::vector<Fault> faults;
  const Queues* const queues = find(qp);
  if (queues == nullptr) {
    return faults;
  }
  if (queues->state == IBV_QPS_RESET || queues->state == IBV_QPS_INIT || queues->state == IBV_QPS_RTR) {
    faults.push_back({"post-wrong-state", std::string{"ibv_post_send on a QP in "} + state_name(queues->state),
                      "only a QP in RTS sends; Soft-RoCE answers EINVAL and yet may carry the request out later",
                      "bring the QP to RTS first"});
  }
  if (queues->sends.size() >= queues->send_depth && queues->state == IBV_QPS_RTS) {
    faults.push_back({"send-queue-full",
                      "ibv_post_send of request " + std::to_string(queues->sends.size() + 1) + " to a send queue of " +
                          std::to_string(queues->send_depth),
                      "slots come back only when the completion of a signalled send is polled; hardware answers ENOMEM "
                      "here, Soft-RoCE goes on",
                      "signal at least one send in every half queue, and poll its completion before going on"});
  }
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  const bool is_written = request.opcode == IBV_WR_RDMA_READ || request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                          request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  for (int i = 0; i < request.num_sge && !is_inline; ++i) {
    if (auto fault = fault_of_memory(*queues, request.sg_list[i], is_written, "ibv_post_send")) {
      faults.push_back(std::move(*fault));
    }
  }
  return faults;
}

std::vector<Fault> DataPath::faults_of_receive(const void* qp, const ibv_recv_wr& request) const {
  std::vector<Fault> faults;
  const Queues* const queues = find(qp);
  if (queues == nullptr) {
    return faults;
  }
  if (queues->state == IBV_QPS_RESET) {
    faults.push_back({"post-wrong-state", "ibv_post_recv on a QP in RESET", "receives can be posted from INIT on",
                      "bring the QP to INIT first"});
  }
  for (int i = 0; i < request.num_sge; ++i) {
    if (auto fault = fault_of_memory(*queues, request.sg_list[i], true, "ibv_post_recv")) {
      faults.push_back(std::move(*fault));
    }
  }
  return faults;
}

void DataPath::posted(const void* qp, const ibv_send_wr& request) {
  const auto found = queues_.find(qp);
  if (found == queues_.end()) {
    return;
  }
  Queues& queues = found->second;
  // Bounded: a program that never polls a send would fill the memory of the checker.
  if (queues.sends.size() > 2 * std::size_t{queues.send_depth}) {
    queues.sends.pop_front();
  }
  queues.sends.push_back({request.wr_id, queues.all_signalled || (request.send_flags & IBV_SEND_SIGNALED) != 0});
}

void DataPath::refused(const void* qp) {
  const auto found = queues_.find(qp);
  if (found != queues_.end() && !found->second.sends.empty()) {
    found->second.sends.pop_back();
  }
}

void DataPath::polled(std::uint32_t qp_number, const ibv_wc& completion) {
  // A receive: its opcode says so, where there is one.
  if (completion.status == IBV_WC_SUCCESS && (completion.opcode & IBV_WC_RECV) != 0) {
    return;
  }
  // QPs of two devices may have the same number. Then a slot may be given back in the wrong one too: better a full
  // queue missed than one that is not full reported.
  const auto [begin, end] = by_number_.equal_range(qp_number);
  for (auto number = begin; number != end; ++number) {
    auto& sends = queues_.at(number->second).sends;
    const auto ended = std::ranges::find_if(sends, [&](const Queues::Send& send) {
      return send.wr_id == completion.wr_id && (send.signalled || completion.status != IBV_WC_SUCCESS);
    });
    if (ended != sends.end()) {
      sends.erase(sends.begin(), ended + 1);
    }
  }
}

}  // namespace verbs_check
