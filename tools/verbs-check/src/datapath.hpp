// What is posted and polled: memory regions by their keys, and the queues of each QP as hardware counts them. Pure.
#pragma once

#include "transition.hpp"

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace verbs_check {

struct Region {
  const void* mr = nullptr;
  const void* pd = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  unsigned access = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
};

// A queue pair as its requests see it.
struct Queues {
  std::uint32_t number = 0;
  const void* pd = nullptr;
  const void* send_cq = nullptr;
  const void* recv_cq = nullptr;
  ibv_qp_state state = IBV_QPS_RESET;  // as the program has set it; an error of the QP itself is not seen
  std::uint32_t send_depth = 0;        // as asked for, not as granted: another device grants no more
  bool all_signalled = false;
  // Sends that hold a slot: given back only by a polled completion of a signalled one, with all that were before it.
  struct Send {
    std::uint64_t wr_id;
    bool signalled;
  };
  std::deque<Send> sends;
};

class DataPath {
public:
  void add_region(const Region& region) { regions_[region.mr] = region; }
  Region take_region(const void* mr);  // removes and returns it; an empty one when there is none

  void add_qp(const void* qp, const Queues& queues);
  Queues take_qp(const void* qp);  // removes and returns them; empty ones when there are none
  void set_state(const void* qp, ibv_qp_state state);
  [[nodiscard]] const Queues* find(const void* qp) const;

  // The QP with this number whose completions come to this CQ, or null.
  [[nodiscard]] const void* qp_of(std::uint32_t number, const void* cq) const;

  // What is wrong with one request, before it is posted.
  [[nodiscard]] std::vector<Fault> faults_of_send(const void* qp, const ibv_send_wr& request) const;
  [[nodiscard]] std::vector<Fault> faults_of_receive(const void* qp, const ibv_recv_wr& request) const;

  void posted(const void* qp, const ibv_send_wr& request);
  void refused(const void* qp);  // the last one posted was not taken after all
  void polled(std::uint32_t qp_number, const ibv_wc& completion);

private:
  [[nodiscard]] std::optional<Fault> fault_of_memory(const Queues& queues, const ibv_sge& range, bool is_written,
                                                     const char* verb) const;

  std::map<const void*, Region> regions_;
  std::map<const void*, Queues> queues_;
  std::multimap<std::uint32_t, const void*> by_number_;
};

}  // namespace verbs_check
