// What is posted and polled: memory regions by their keys, and the queues of each QP, SRQ and CQ as hardware counts
// them. Pure but for reading the memory that is sent. What is wrong is said by rules.cpp, waiting.cpp and statuses.cpp.
#pragma once

#include "fault.hpp"

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace verbs_check {

// Memory of a region that the program has given back while it was registered.
struct GivenBack {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const char* function = nullptr;
};

struct Region {
  const void* mr = nullptr;
  const void* pd = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  unsigned access = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  bool has_memory = false;  // its addresses are those of memory of this process, whose pages stay as they are
  std::vector<GivenBack> given_back{};
};

// The SGEs of a request: copied, for the program may use its own again at once. Nearly always there is one.
class Ranges {
public:
  void set(const ibv_sge* list, int count) {
    count_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    if (count_ > 0) {
      first_ = list[0];
    }
    if (count_ > 1) {
      rest_.assign(list + 1, list + count_);
    }
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const ibv_sge& at(std::size_t i) const { return i == 0 ? first_ : rest_.at(i - 1); }
  [[nodiscard]] std::uint64_t length() const;  // bytes in all

private:
  std::size_t count_ = 0;
  ibv_sge first_{};
  std::vector<ibv_sge> rest_;
};

// A request that was posted, until its slot comes back.
struct Request {
  std::uint64_t wr_id = 0;
  std::uint64_t sequence = 0;   // grows with each post and each completion, of all queues
  const void* where = nullptr;  // the post: a return address
  bool is_send = false;
  bool is_signalled = false;  // its success leaves a completion
  bool is_inline = false;
  bool was_faulty = false;  // something was said about it when it was posted: its failure is no news
  ibv_wr_opcode opcode = IBV_WR_SEND;
  std::uint64_t remote_addr = 0;  // of RDMA and atomics
  std::uint32_t rkey = 0;
  std::uint64_t hash = 0;  // of what is sent; 0: not known
  Ranges ranges;
};

// Requests in the order in which they were posted; nearly always the first one goes first. Its memory is used again and
// again: nothing is allocated for each request.
class RequestQueue {
public:
  [[nodiscard]] auto begin() { return items_.begin() + head_; }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin() + head_; }
  [[nodiscard]] auto end() const { return items_.end(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - static_cast<std::size_t>(head_); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const Request& front() const { return *begin(); }
  [[nodiscard]] const Request& back() const { return items_.back(); }

  Request& push() { return items_.emplace_back(); }  // a new one at the end, to be filled
  void pop_back() { items_.pop_back(); }
  void pop_front() { erase_to(begin() + 1); }
  void clear() { erase_to(end()); }

  using iterator = std::vector<Request>::iterator;
  void erase_to(iterator last);  // all before it
  void erase(iterator one);

private:
  std::vector<Request> items_;
  std::ptrdiff_t head_ = 0;  // what is before it is gone already
};

// What the QP was last given by ibv_modify_qp.
struct Attributes {
  std::uint32_t dest_qp_num = 0;
  std::uint32_t rq_psn = 0;
  std::uint32_t sq_psn = 0;
  unsigned access = 0;
  ibv_mtu path_mtu = IBV_MTU_1024;
  unsigned timeout = 14;
  unsigned retry_cnt = 0;
  unsigned rnr_retry = 0;
  unsigned min_rnr_timer = 0;
  unsigned max_rd_atomic = 1;
  unsigned max_dest_rd_atomic = 1;
  bool to_own_address = false;  // the peer is behind the same GID or LID: it may be a QP of this process
};

// A queue pair as its requests see it.
struct Queues {
  std::uint32_t number = 0;
  ibv_qp_type type = IBV_QPT_RC;
  const void* context = nullptr;
  const void* pd = nullptr;
  const void* send_cq = nullptr;
  const void* recv_cq = nullptr;
  const void* srq = nullptr;
  ibv_qp_state state = IBV_QPS_RESET;  // as the program has set it, and ERR after a failed completion
  ibv_qp_cap asked{};                  // as asked for, not as granted: another device grants no more
  bool all_signalled = false;
  bool is_watched = true;  // false: requests are posted by ways that are not modelled, and nothing is judged
  Attributes attributes;
  std::uint64_t max_message = 0;        // bytes; 0: not known
  std::optional<ibv_wc_status> failed;  // the first failure that was polled since RESET
  bool failed_on_purpose = false;       // the program itself has moved it to ERR
  std::uint64_t last_receive = 0;       // the sequence of the last receive that was polled
  // Sends that hold a slot: given back only by a polled completion of a signalled one, with all that were before it.
  RequestQueue sends;
  RequestQueue receives;
};

struct SharedQueue {
  const void* pd = nullptr;
  std::uint32_t depth = 0;    // as asked for
  std::uint32_t max_sge = 0;  // as asked for
  RequestQueue receives;
};

struct Completions {
  std::uint32_t entries = 0;                           // as asked for
  bool is_watched = true;                              // false: polled by ways that are not modelled
  std::unordered_map<std::uint32_t, const void*> qps;  // by number
  std::size_t outstanding = 0;                         // signalled sends and receives that can leave a completion here
};

class DataPath {
public:
  void add_region(const Region& region);
  Region take_region(const void* mr);  // removes and returns it; an empty one when there is none

  // False for memory that cannot be in any region, without looking further: from its first address, and its length only
  // where that does not tell. Needs no mutex.
  template <class Length>
  [[nodiscard]] bool may_be_registered(std::uint64_t begin, Length length) const {
    return begin < highest_.load(std::memory_order_relaxed) &&
           begin + length() > lowest_.load(std::memory_order_relaxed);
  }

  void add_qp(const void* qp, const Queues& queues);
  Queues take_qp(const void* qp);  // removes and returns them; empty ones when there are none
  void set_state(const void* qp, ibv_qp_state state);
  void set_attributes(const void* qp, const ibv_qp_attr& attr, int mask);
  [[nodiscard]] const Queues* find(const void* qp) const { return const_cast<DataPath*>(this)->find(qp); }
  [[nodiscard]] Queues* find(const void* qp) {
    return last_qp_.qp == qp && qp != nullptr ? last_qp_.queues : look_up_qp(qp);
  }

  // A living QP or SRQ of this data path.
  [[nodiscard]] bool knows(const void* queue) const { return find(queue) != nullptr || srqs_.contains(queue); }

  void add_srq(const void* srq, const SharedQueue& queue) { srqs_[srq] = queue; }
  void take_srq(const void* srq) { srqs_.erase(srq); }

  void add_cq(const void* cq, std::uint32_t entries);
  void take_cq(const void* cq);
  void unwatch_cq(const void* cq);  // it is polled by ways that are not modelled: nor can its QPs be judged
  [[nodiscard]] Completions* find_cq(const void* cq) {
    return last_cq_.cq == cq && cq != nullptr ? last_cq_.completions : look_up_cq(cq);
  }

  // The QP with this number whose completions come to this CQ, or null.
  [[nodiscard]] const void* qp_of(std::uint32_t number, const void* cq) const {
    return last_number_.cq == cq && last_number_.number == number && last_number_.qp != nullptr
               ? last_number_.qp
               : look_up_number(number, cq);
  }

  // What is wrong with one request, before it is posted.
  [[nodiscard]] std::vector<Fault> faults_of_send(const void* qp, const ibv_send_wr& request) const;
  [[nodiscard]] std::vector<Fault> faults_of_receive(const void* qp, const ibv_recv_wr& request) const;
  [[nodiscard]] std::vector<Fault> faults_of_srq_receive(const void* srq, const ibv_recv_wr& request) const;

  void posted(const void* qp, const ibv_send_wr& request, const void* where, bool was_faulty = false);
  void posted(const void* qp, const ibv_recv_wr& request, const void* where, bool was_faulty = false);
  void posted_srq(const void* srq, const ibv_recv_wr& request, const void* where, bool was_faulty = false);
  // The last one posted was not taken after all.
  void refused_send(const void* qp);
  void refused_receive(const void* qp);
  void refused_srq(const void* srq);

  // A completion was polled. Returns what is wrong with it, or with what was done since its request was posted.
  std::vector<Fault> polled(const void* cq, const ibv_wc& completion);

  // What is wrong with giving up memory now: a request that was posted still needs it. What becomes of that request is
  // not judged any more.
  [[nodiscard]] std::optional<Fault> fault_of_dereg(const void* mr);
  [[nodiscard]] std::optional<Fault> fault_of_free(std::uint64_t begin, std::uint64_t end, const char* function);

  // It is given up. Who posts it from now on uses what is not there any more.
  void gave_back(std::uint64_t begin, std::uint64_t end, const char* function);

  // A living SRQ, or null.
  [[nodiscard]] SharedQueue* find_srq(const void* srq);

  // Why nothing comes, for a program that has polled this CQ for a long time: nothing when something still can come.
  // `since` is the sequence when it began.
  [[nodiscard]] std::optional<Fault> fault_of_waiting(const void* cq, std::uint64_t since) const;

  [[nodiscard]] std::uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }

private:
  struct Received {
    ibv_sge range;
    std::uint64_t sequence;
  };

  [[nodiscard]] const Region* region_of(std::uint32_t lkey, const void* pd) const {
    return last_region_.region != nullptr && last_region_.lkey == lkey && last_region_.pd == pd
               ? last_region_.region
               : look_up_region(lkey, pd);
  }

  // What was not looked up last.
  [[nodiscard]] Queues* look_up_qp(const void* qp);
  [[nodiscard]] Completions* look_up_cq(const void* cq);
  [[nodiscard]] const void* look_up_number(std::uint32_t number, const void* cq) const;
  [[nodiscard]] const Region* look_up_region(std::uint32_t lkey, const void* pd) const;
  [[nodiscard]] std::optional<Fault> fault_of_memory(const void* pd, const ibv_sge& range, bool is_written,
                                                     const char* verb) const;
  template <class Uses>
  std::optional<Fault> fault_of_use(Uses uses, const void* pd, const char* id, const std::string& what,
                                    const char* why);
  [[nodiscard]] std::optional<Fault> fault_of_capacity(const void* cq) const;
  void faults_of_list(const void* pd, const ibv_recv_wr& request, const char* verb, std::uint32_t max_sge,
                      std::vector<Fault>& faults) const;
  void fill(Request& receive, const ibv_recv_wr& request, const void* where, bool was_faulty);
  [[nodiscard]] std::uint64_t hash_of(const Request& request, const void* pd) const;
  void expect(const void* cq, std::ptrdiff_t count);
  void expect(const Queues& queues, std::ptrdiff_t sign);

  void retire_send(Queues& queues, const ibv_wc& completion, std::vector<Fault>& faults);
  void retire_receive(Queues& queues, const ibv_wc& completion, std::vector<Fault>& faults);
  void note_received(const Request& request, std::vector<Fault>& faults);
  [[nodiscard]] std::optional<Fault> fault_of_status(const Queues& queues, const Request* request,
                                                     const ibv_wc& completion) const;
  [[nodiscard]] const void* peer_of(const Queues& queues) const;
  [[nodiscard]] std::string remote_memory_text(const Queues& queues, const Request& request) const;

  std::unordered_map<const void*, Region> regions_;
  std::unordered_multimap<std::uint32_t, const void*> by_lkey_;
  std::atomic<std::uint64_t> lowest_{UINT64_MAX};  // the first and the last address of all regions so far
  std::atomic<std::uint64_t> highest_{0};
  std::unordered_map<const void*, Queues> qps_;
  std::unordered_map<const void*, SharedQueue> srqs_;
  std::unordered_map<const void*, Completions> cqs_;
  std::atomic<std::uint64_t> sequence_{0};

  // What was looked up last: a program posts and polls the same few things again and again.
  struct LastQp {
    const void* qp = nullptr;
    Queues* queues = nullptr;
  };
  struct LastCq {
    const void* cq = nullptr;
    Completions* completions = nullptr;
  };
  struct LastNumber {
    const void* cq = nullptr;
    std::uint32_t number = 0;
    const void* qp = nullptr;
  };
  struct LastRegion {
    std::uint32_t lkey = 0;
    const void* pd = nullptr;
    const Region* region = nullptr;
  };
  // Written under the mutex only, so that it needs no atomic addition.
  std::uint64_t next_sequence() {
    const std::uint64_t next = sequence() + 1;
    sequence_.store(next, std::memory_order_relaxed);
    return next;
  }

  void forget_last();  // something was added or taken
  mutable LastQp last_qp_;
  mutable LastCq last_cq_;
  mutable LastNumber last_number_;
  mutable LastRegion last_region_;
  std::vector<Received> received_;  // since the last send of the process: where messages have landed
};

}  // namespace verbs_check
