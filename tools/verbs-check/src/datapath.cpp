#include "datapath.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace verbs_check {

namespace {

constexpr std::size_t most_received = 64;

// Of a longer message only so much is looked at when it is compared.
constexpr std::size_t hashed_bytes = 64 * 1024;

bool reads_memory(const Request& request) {
  return request.opcode == IBV_WR_SEND || request.opcode == IBV_WR_SEND_WITH_IMM ||
         request.opcode == IBV_WR_RDMA_WRITE || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

// Cheap rather than good: it shall tell a changed message from an unchanged one, at each post and each completion.
std::uint64_t hash_bytes(std::uint64_t hash, const unsigned char* bytes, std::size_t count) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t word = 0;
  for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
    std::memcpy(&word, bytes, sizeof word);
    hash = std::rotl(hash, 9) ^ (word * odd);
  }
  if (count > 0) {
    word = 0;
    std::memcpy(&word, bytes, count);
    hash = std::rotl(hash, 9) ^ (word * odd);
  }
  return hash;
}

bool overlap(const ibv_sge& one, const ibv_sge& other) {
  return one.addr < other.addr + other.length && other.addr < one.addr + one.length;
}

}  // namespace

std::uint64_t Ranges::length() const {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    length += at(i).length;
  }
  return length;
}

void RequestQueue::erase_to(iterator last) {
  head_ = last - items_.begin();
  if (last == items_.end()) {
    items_.clear();
    head_ = 0;
  } else if (head_ > std::ssize(items_) / 2 && head_ >= 64) {
    items_.erase(items_.begin(), last);
    head_ = 0;
  }
}

void RequestQueue::erase(iterator one) {
  if (one == begin()) {
    erase_to(one + 1);
  } else {
    items_.erase(one);
  }
}

void DataPath::forget_last() {
  last_qp_ = {};
  last_cq_ = {};
  last_number_ = {};
  last_region_ = {};
}

// Regions.

void DataPath::add_region(const Region& region) {
  take_region(region.mr);  // one that stood there, and went away with its device
  forget_last();
  regions_[region.mr] = region;
  by_lkey_.emplace(region.lkey, region.mr);
  lowest_ = std::min(lowest_.load(), region.begin);
  highest_ = std::max(highest_.load(), region.begin + region.length);
}

Region DataPath::take_region(const void* mr) {
  forget_last();
  const auto taken = regions_.extract(mr);
  if (taken.empty()) {
    return {};
  }
  const auto [begin, end] = by_lkey_.equal_range(taken.mapped().lkey);
  by_lkey_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == mr; }));
  return taken.mapped();
}

const Region* DataPath::look_up_region(std::uint32_t lkey, const void* pd) const {
  const Region* found = nullptr;
  const auto [begin, end] = by_lkey_.equal_range(lkey);
  for (auto entry = begin; entry != end; ++entry) {
    const Region& region = regions_.at(entry->second);
    // Two devices may give the same key: among equals the one of the PD of the QP is meant.
    if (found == nullptr || region.pd == pd) {
      found = &region;
    }
  }
  last_region_ = {lkey, pd, found};
  return found;
}

void DataPath::gave_back(std::uint64_t begin, std::uint64_t end, const char* function) {
  constexpr std::size_t most = 64;
  for (auto& [mr, region] : regions_) {
    const GivenBack part{std::max(begin, region.begin), std::min(end, region.begin + region.length), function};
    if (region.has_memory && part.begin < part.end && region.given_back.size() < most) {
      region.given_back.push_back(part);
    }
  }
}

// Queues.

SharedQueue* DataPath::find_srq(const void* srq) {
  const auto found = srqs_.find(srq);
  return found == srqs_.end() ? nullptr : &found->second;
}

void DataPath::unwatch_cq(const void* cq) {
  if (Completions* const completions = find_cq(cq)) {
    completions->is_watched = false;
  }
  for (auto& [qp, queues] : qps_) {
    if (queues.send_cq == cq || queues.recv_cq == cq) {
      queues.is_watched = false;
    }
  }
}

void DataPath::add_qp(const void* qp, const Queues& queues) {
  take_qp(qp);  // one that stood there, and went away with its device
  Queues& entered = qps_[qp] = queues;
  for (const void* const cq : {queues.send_cq, queues.recv_cq}) {
    if (Completions* const completions = find_cq(cq)) {
      completions->qps[queues.number] = qp;
      entered.is_watched = entered.is_watched && completions->is_watched;
    }
  }
  expect(queues, 1);
}

// So many completions more, or less, can come to this CQ.
void DataPath::expect(const void* cq, std::ptrdiff_t count) {
  if (Completions* const completions = find_cq(cq)) {
    completions->outstanding = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(completions->outstanding) + count);
  }
}

// The same for all that is posted there: 1 when they come, -1 when they do not any more.
void DataPath::expect(const Queues& queues, std::ptrdiff_t sign) {
  expect(queues.send_cq, sign * std::ranges::count_if(queues.sends, &Request::is_signalled));
  expect(queues.recv_cq, sign * std::ssize(queues.receives));
}

Queues DataPath::take_qp(const void* qp) {
  forget_last();
  const auto taken = qps_.extract(qp);
  if (taken.empty()) {
    return {};
  }
  for (const void* const cq : {taken.mapped().send_cq, taken.mapped().recv_cq}) {
    if (Completions* const completions = find_cq(cq)) {
      completions->qps.erase(taken.mapped().number);
    }
  }
  expect(taken.mapped(), -1);
  return taken.mapped();
}

void DataPath::set_state(const void* qp, ibv_qp_state state) {
  Queues* const queues = find(qp);
  if (queues == nullptr) {
    return;
  }
  queues->state = state;
  if (state == IBV_QPS_RESET) {
    expect(*queues, -1);
    queues->sends.clear();
    queues->receives.clear();
    queues->failed.reset();
    queues->failed_on_purpose = false;
  } else if (state == IBV_QPS_ERR) {
    queues->failed_on_purpose = true;
  }
}

void DataPath::set_attributes(const void* qp, const ibv_qp_attr& attr, int mask) {
  Queues* const queues = find(qp);
  if (queues == nullptr) {
    return;
  }
  Attributes& known = queues->attributes;
  const auto take = [&](int bit, auto& to, auto from) {
    if ((mask & bit) != 0) {
      to = from;
    }
  };
  take(IBV_QP_DEST_QPN, known.dest_qp_num, attr.dest_qp_num);
  take(IBV_QP_RQ_PSN, known.rq_psn, attr.rq_psn);
  take(IBV_QP_SQ_PSN, known.sq_psn, attr.sq_psn);
  take(IBV_QP_ACCESS_FLAGS, known.access, attr.qp_access_flags);
  take(IBV_QP_PATH_MTU, known.path_mtu, attr.path_mtu);
  take(IBV_QP_TIMEOUT, known.timeout, attr.timeout);
  take(IBV_QP_RETRY_CNT, known.retry_cnt, attr.retry_cnt);
  take(IBV_QP_RNR_RETRY, known.rnr_retry, attr.rnr_retry);
  take(IBV_QP_MIN_RNR_TIMER, known.min_rnr_timer, attr.min_rnr_timer);
  take(IBV_QP_MAX_QP_RD_ATOMIC, known.max_rd_atomic, attr.max_rd_atomic);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, known.max_dest_rd_atomic, attr.max_dest_rd_atomic);
  if ((mask & IBV_QP_STATE) != 0) {
    set_state(qp, attr.qp_state);
  }
}

Queues* DataPath::look_up_qp(const void* qp) {
  const auto found = qps_.find(qp);
  last_qp_ = {qp, found == qps_.end() ? nullptr : &found->second};
  return last_qp_.queues;
}

void DataPath::add_cq(const void* cq, std::uint32_t entries) {
  forget_last();
  cqs_[cq] = {.entries = entries};
}

void DataPath::take_cq(const void* cq) {
  forget_last();
  cqs_.erase(cq);
}

Completions* DataPath::look_up_cq(const void* cq) {
  const auto found = cqs_.find(cq);
  last_cq_ = {cq, found == cqs_.end() ? nullptr : &found->second};
  return last_cq_.completions;
}

const void* DataPath::look_up_number(std::uint32_t number, const void* cq) const {
  last_number_ = {cq, number, nullptr};
  if (const auto found = cqs_.find(cq); found != cqs_.end()) {
    const auto qp = found->second.qps.find(number);
    last_number_.qp = qp == found->second.qps.end() ? nullptr : qp->second;
  }
  return last_number_.qp;
}

// Posting.

void DataPath::posted(const void* qp, const ibv_send_wr& request, const void* where, bool was_faulty) {
  Queues* const queues = find(qp);
  if (queues == nullptr) {
    return;
  }
  received_.clear();  // the program has had its turn
  // Bounded: a program that never polls a send would fill the memory of the checker.
  if (queues->sends.size() > 2 * std::size_t{queues->asked.max_send_wr}) {
    expect(queues->send_cq, queues->sends.front().is_signalled ? -1 : 0);
    queues->sends.pop_front();
  }
  Request& posted = queues->sends.push();
  posted.wr_id = request.wr_id;
  posted.sequence = next_sequence();
  posted.where = where;
  posted.is_send = true;
  posted.is_signalled = queues->all_signalled || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  posted.is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  posted.was_faulty = was_faulty;
  posted.opcode = request.opcode;
  posted.ranges.set(request.sg_list, request.num_sge);
  if (request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    posted.remote_addr = request.wr.atomic.remote_addr;
    posted.rkey = request.wr.atomic.rkey;
  } else {
    posted.remote_addr = request.wr.rdma.remote_addr;
    posted.rkey = request.wr.rdma.rkey;
  }
  // Not of what is out of bounds: reading it could crash.
  if (!was_faulty && !posted.is_inline && reads_memory(posted)) {
    posted.hash = hash_of(posted, queues->pd);
  }
  if (posted.is_signalled) {
    expect(queues->send_cq, 1);
  }
}

void DataPath::fill(Request& receive, const ibv_recv_wr& request, const void* where, bool was_faulty) {
  receive.wr_id = request.wr_id;
  receive.sequence = next_sequence();
  receive.where = where;
  receive.was_faulty = was_faulty;
  receive.ranges.set(request.sg_list, request.num_sge);
}

void DataPath::posted(const void* qp, const ibv_recv_wr& request, const void* where, bool was_faulty) {
  Queues* const queues = find(qp);
  if (queues == nullptr) {
    return;
  }
  // Bounded as the sends are: of a CQ that is polled by ways that are not modelled no receive comes back.
  if (queues->receives.size() > 2 * std::size_t{queues->asked.max_recv_wr}) {
    expect(queues->recv_cq, -1);
    queues->receives.pop_front();
  }
  expect(queues->recv_cq, 1);
  fill(queues->receives.push(), request, where, was_faulty);
}

void DataPath::posted_srq(const void* srq, const ibv_recv_wr& request, const void* where, bool was_faulty) {
  if (const auto found = srqs_.find(srq); found != srqs_.end()) {
    if (found->second.receives.size() > 2 * std::size_t{found->second.depth}) {
      found->second.receives.pop_front();
    }
    fill(found->second.receives.push(), request, where, was_faulty);
  }
}

void DataPath::refused_send(const void* qp) {
  Queues* const queues = find(qp);
  if (queues == nullptr || queues->sends.empty()) {
    return;
  }
  expect(queues->send_cq, queues->sends.back().is_signalled ? -1 : 0);
  queues->sends.pop_back();
}

void DataPath::refused_receive(const void* qp) {
  Queues* const queues = find(qp);
  if (queues == nullptr || queues->receives.empty()) {
    return;
  }
  expect(queues->recv_cq, -1);
  queues->receives.pop_back();
}

void DataPath::refused_srq(const void* srq) {
  if (const auto found = srqs_.find(srq); found != srqs_.end() && !found->second.receives.empty()) {
    found->second.receives.pop_back();
  }
}

// Polling.

std::uint64_t DataPath::hash_of(const Request& request, const void* pd) const {
  std::uint64_t hash = 1;
  std::size_t left = hashed_bytes;
  for (std::size_t i = 0; i < request.ranges.size(); ++i) {
    const ibv_sge& range = request.ranges.at(i);
    if (range.length == 0) {
      continue;
    }
    const Region* const region = region_of(range.lkey, pd);
    if (region == nullptr || range.addr < region->begin || range.addr + range.length > region->begin + region->length) {
      return 0;  // it is not registered any more, and may not be there
    }
    const std::size_t count = std::min<std::size_t>(range.length, left);
    hash = hash_bytes(hash, reinterpret_cast<const unsigned char*>(range.addr), count);
    left -= count;
  }
  return hash == 0 ? 1 : hash;
}

std::vector<Fault> DataPath::polled(const void* cq, const ibv_wc& completion) {
  std::vector<Fault> faults;
  next_sequence();
  Queues* const queues = find(qp_of(completion.qp_num, cq));
  if (queues == nullptr || !queues->is_watched) {
    return faults;
  }
  const bool may_be_send = queues->send_cq == cq;
  const bool may_be_receive = queues->recv_cq == cq;
  bool is_receive = may_be_receive;
  if (completion.status == IBV_WC_SUCCESS) {
    is_receive = (completion.opcode & IBV_WC_RECV) != 0;
  } else if (may_be_send && may_be_receive) {
    // The opcode is not defined now. Sends fail in their order: what is not the oldest that can have failed is a
    // receive.
    const auto same_id = [&](const Request& request) { return request.wr_id == completion.wr_id; };
    is_receive = std::ranges::none_of(queues->sends, same_id);
  }
  if (is_receive) {
    retire_receive(*queues, completion, faults);
  } else {
    retire_send(*queues, completion, faults);
  }
  if (completion.status != IBV_WC_SUCCESS) {
    if (!queues->failed) {
      queues->failed = completion.status;
    }
    queues->state = IBV_QPS_ERR;
  }
  return faults;
}

void DataPath::retire_send(Queues& queues, const ibv_wc& completion, std::vector<Fault>& faults) {
  const auto ended = std::ranges::find_if(queues.sends, [&](const Request& request) {
    return request.wr_id == completion.wr_id && (request.is_signalled || completion.status != IBV_WC_SUCCESS);
  });
  if (ended == queues.sends.end()) {
    return;
  }
  const bool failed = completion.status != IBV_WC_SUCCESS;
  if (failed) {
    if (auto fault = fault_of_status(queues, &*ended, completion)) {
      faults.push_back(std::move(*fault));
    }
  }
  for (auto request = queues.sends.begin(); request <= ended; ++request) {
    expect(queues.send_cq, request->is_signalled ? -1 : 0);
    // An answer of the peer that came after an unsignalled send shows that the send had arrived.
    const bool is_certain = request->is_signalled || queues.last_receive < request->sequence;
    if (!failed && is_certain && request->hash != 0 && faults.empty()) {
      const std::uint64_t now = hash_of(*request, queues.pd);
      if (now != 0 && now != request->hash) {
        faults.push_back(
            {"payload-changed", "the memory of a posted send was changed before its completion was polled",
             "the device reads the memory when it sends, and again when it must send once more: the peer "
             "gets the old bytes, the new ones or some of both; Soft-RoCE nearly always sends the old ones",
             "leave the memory alone until the completion is polled; use another buffer meanwhile, or "
             "IBV_SEND_INLINE for short messages",
             request->where});
      }
    }
  }
  queues.sends.erase_to(ended + 1);
}

void DataPath::retire_receive(Queues& queues, const ibv_wc& completion, std::vector<Fault>& faults) {
  const auto srq = srqs_.find(queues.srq);
  auto& receives = srq == srqs_.end() ? queues.receives : srq->second.receives;
  const auto ended = std::ranges::find(receives, completion.wr_id, &Request::wr_id);
  if (ended == receives.end()) {
    return;
  }
  expect(queues.recv_cq, srq == srqs_.end() ? -1 : 0);
  if (completion.status == IBV_WC_SUCCESS) {
    queues.last_receive = sequence_;
    note_received(*ended, faults);
  } else if (auto fault = fault_of_status(queues, &*ended, completion)) {
    faults.push_back(std::move(*fault));
  }
  receives.erase(ended);
}

// Two messages in the same memory, the second posted before the first was polled, and no answer between: the second may
// have come over the first before the program could look.
void DataPath::note_received(const Request& request, std::vector<Fault>& faults) {
  for (std::size_t i = 0; i < request.ranges.size(); ++i) {
    const ibv_sge& range = request.ranges.at(i);
    if (range.length == 0) {
      continue;
    }
    const bool shared = std::ranges::any_of(received_, [&](const Received& earlier) {
      return request.sequence < earlier.sequence && overlap(earlier.range, range);
    });
    if (shared && faults.empty()) {
      faults.push_back({"receive-buffer-shared", "two messages were received into the same memory",
                        "both receives were posted at the same time: the second message may overwrite the first before "
                        "the program has read it",
                        "give each posted receive memory of its own, and post it again only when its message was used",
                        request.where});
    }
    if (received_.size() == most_received) {
      received_.erase(received_.begin());
    }
    received_.push_back({range, sequence_});
  }
}

}  // namespace verbs_check
