// The verbs that move data. They are inline functions over context->ops, so they are hooked by replacing those pointers
// in each context that is opened.
#include "hooks_data.hpp"

#include "hook.hpp"
#include "hooks_events.hpp"
#include "names.hpp"
#include "real.hpp"
#include "refusals.hpp"

#include <sys/single_threaded.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <string_view>
#include <type_traits>
#include <vector>

namespace verbs_check {

namespace {

// The original functions of each open context; few contexts, looked up without a lock.
struct Original {
  std::atomic<ibv_context*> context{nullptr};
  ibv_context_ops ops{};
};

constexpr std::size_t contexts = 64;
std::array<Original, contexts> originals;

const ibv_context_ops& original(const ibv_context* context) {
  if (originals.front().context.load(std::memory_order_acquire) == context) {  // nearly always there is one
    return originals.front().ops;
  }
  for (const Original& entry : originals) {
    if (entry.context.load(std::memory_order_acquire) == context) {
      return entry.ops;
    }
  }
  std::abort();  // our function is in the table of a context that we never changed
}

// The errno value with which a device that does not forgive answers such a request, or 0: some mistakes show later.
int answer_to(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    if (fault.id == "send-queue-full" || fault.id == "receive-queue-full") {
      return ENOMEM;
    }
    if (fault.id == "post-wrong-state" || fault.id == "sge-too-many" || fault.id == "inline-too-long" ||
        fault.id == "opcode-not-offered" || fault.id == "ud-above-mtu") {
      return EINVAL;
    }
  }
  return 0;
}

// In strict mode the program knows other lkeys than the device: see virtual_lkey(). So the device is given copies, of
// the first `count` requests.
template <class Request>
class Translated {
public:
  Translated(const Request* requests, std::size_t count) {
    std::size_t ranges = 0;
    for (const Request* request = requests; requests_.size() < count; request = request->next) {
      requests_.push_back(*request);
      ranges += static_cast<std::size_t>(std::max(request->num_sge, 0));
    }
    ranges_.reserve(ranges);  // pointers into it stay
    for (std::size_t i = 0; i < count; ++i) {
      Request& request = requests_[i];
      request.next = i + 1 < count ? &requests_[i + 1] : nullptr;
      ibv_sge* const first = ranges_.data() + ranges_.size();
      for (int range = 0; range < request.num_sge; ++range) {
        ranges_.push_back(request.sg_list[range]);
        ranges_.back().lkey = virtual_lkey(ranges_.back().lkey);
      }
      request.sg_list = first;
    }
  }

  [[nodiscard]] Request* first() { return requests_.data(); }
  // The how-manieth of them this is.
  [[nodiscard]] std::size_t index_of(const Request* request) const {
    return static_cast<std::size_t>(request - requests_.data());
  }

private:
  std::vector<Request> requests_;
  std::vector<ibv_sge> ranges_;
};

template <class Request>
Request* nth(Request* requests, std::size_t n) {
  for (; n > 0; --n) {
    requests = requests->next;
  }
  return requests;
}

// Posting of any kind. `judge` says what is wrong with a request, `enter` takes it down as posted, `refuse` takes the
// last one back, `post` hands the list to the device.
template <class Request, class Judge, class Enter, class Refuse, class Post>
int post(const Call& call, const void* queue, Request* requests, Request** bad, Judge judge, Enter enter, Refuse refuse,
         Post post) {
  Checker& checker = Checker::get();
  if (std::unique_lock lock{checker.mutex}; !checker.data.knows(queue)) {
    lock.unlock();
    if (is_gone(call, queue)) {
      *bad = requests;
      return EINVAL;
    }
  }
  std::size_t count = 0;  // that were looked at and taken down as posted
  int answer = 0;         // of a device that does not forgive, to the one after them
  bool explained = false;
  const auto look = [&](std::size_t most) {
    const std::lock_guard lock{checker.mutex};
    std::size_t seen = 0;
    for (Request* request = requests; request != nullptr; request = request->next) {
      const std::vector<Fault> faults = judge(*request);
      if (!faults.empty()) {
        explained = true;
        checker.report(call, queue, faults);
        if (checker.is_strict() && (answer = answer_to(faults)) != 0) {
          break;
        }
      }
      if (seen++ >= most) {
        break;  // this one was refused; those after it were not looked at by the device either
      }
      enter(*request, !faults.empty());
      ++count;
    }
  };
  // Requests are taken down before the verb: their completions may be polled by another thread before this one is back.
  // Where there is no other thread it is done afterwards: meanwhile the message is on its way.
  const bool looks_first = checker.is_strict() || __libc_single_threaded == 0;
  if (looks_first) {
    look(SIZE_MAX);
  }
  int result = checker.injected(call);
  const bool is_injected = result != 0;
  std::size_t taken = 0;
  if (is_injected) {
    *bad = requests;
  } else if (checker.is_strict()) {
    Translated<Request> translated{requests, count};
    Request* translated_bad = nullptr;
    result = count == 0 ? 0 : post(translated.first(), &translated_bad);
    taken = result == 0 ? count : translated.index_of(translated_bad);
    if (result == 0) {
      result = answer;
    }
    if (result != 0) {
      *bad = nth(requests, taken);
    }
  } else {
    *bad = nullptr;  // some drivers leave it alone, and the program's may be anything
    result = post(requests, bad);
    if (result != 0) {
      for (const Request* request = requests; request != *bad && request != nullptr; request = request->next) {
        ++taken;
      }
    }
  }
  if (!looks_first) {
    look(result == 0 ? SIZE_MAX : taken);
  }
  if (result != 0) {
    const std::lock_guard lock{checker.mutex};
    for (; count > taken; --count) {
      refuse();
    }
    if (!explained && !is_injected) {
      const Queues* const queues = checker.data.find(queue);
      const bool has_srq = std::is_same_v<Request, ibv_recv_wr> && queues != nullptr && queues->srq != nullptr;
      checker.report(call, queue, post_refused(result, call.verb, has_srq));
    }
  }
  return result;
}

std::int64_t length_of(const ibv_sge* ranges, int count) {
  std::int64_t length = 0;
  for (int i = 0; i < count; ++i) {
    length += ranges[i].length;
  }
  return length;
}

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  const Call call{"ibv_post_send", __builtin_return_address(0)};
  Checker& checker = Checker::get();
  DataPath& data = checker.data;
  const int result = post(
      call, qp, requests, bad, [&](const ibv_send_wr& request) { return data.faults_of_send(qp, request); },
      [&](const ibv_send_wr& request, bool was_faulty) { data.posted(qp, request, call.where, was_faulty); },
      [&] { data.refused_send(qp); },
      [&](ibv_send_wr* list, ibv_send_wr** refused) { return original(qp->context).post_send(qp, list, refused); });
  checker.record_often(Shape::sends, call, qp, result, 0, [&](Trace& trace) {
    for (const ibv_send_wr* request = requests; request != nullptr; request = request->next) {
      trace.add({.wr_id = request->wr_id,
                 .length = length_of(request->sg_list, request->num_sge),
                 .opcode = request->opcode,
                 .flags = request->send_flags});
    }
  });
  return result;
}

void record_receives(const Call& call, const void* queue, int result, const ibv_recv_wr* requests) {
  Checker::get().record_often(Shape::receives, call, queue, result, 0, [&](Trace& trace) {
    for (const ibv_recv_wr* request = requests; request != nullptr; request = request->next) {
      trace.add({.wr_id = request->wr_id, .length = length_of(request->sg_list, request->num_sge)});
    }
  });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  const Call call{"ibv_post_recv", __builtin_return_address(0)};
  DataPath& data = Checker::get().data;
  const int result = post(
      call, qp, requests, bad, [&](const ibv_recv_wr& request) { return data.faults_of_receive(qp, request); },
      [&](const ibv_recv_wr& request, bool was_faulty) { data.posted(qp, request, call.where, was_faulty); },
      [&] { data.refused_receive(qp); },
      [&](ibv_recv_wr* list, ibv_recv_wr** refused) { return original(qp->context).post_recv(qp, list, refused); });
  record_receives(call, qp, result, requests);
  return result;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  const Call call{"ibv_post_srq_recv", __builtin_return_address(0)};
  DataPath& data = Checker::get().data;
  const int result = post(
      call, srq, requests, bad, [&](const ibv_recv_wr& request) { return data.faults_of_srq_receive(srq, request); },
      [&](const ibv_recv_wr& request, bool was_faulty) { data.posted_srq(srq, request, call.where, was_faulty); },
      [&] { data.refused_srq(srq); },
      [&](ibv_recv_wr* list, ibv_recv_wr** refused) {
        return original(srq->context).post_srq_recv(srq, list, refused);
      });
  record_receives(call, srq, result, requests);
  return result;
}

// A CQ that this thread polls in vain.
struct Waiting {
  const void* cq = nullptr;
  unsigned polls = 0;
  unsigned next = 32;          // after so many polls the clock is read
  unsigned step = 32;          // and after so many more once again
  std::int64_t read_ns = 0;    // when it was read last
  std::int64_t since_ns = 0;   // and first
  std::uint64_t sequence = 0;  // of the data path, then
  bool is_explained = false;   // once a wait
};

Waiting& waiting_for(const void* cq) {
  // A program may poll two in turn.
  static thread_local std::array<Waiting, 4> slots __attribute__((tls_model("initial-exec")));
  Waiting& slot = slots[(reinterpret_cast<std::uintptr_t>(cq) >> 6U) % slots.size()];
  if (slot.cq != cq) {
    slot = {.cq = cq};
  }
  return slot;
}

// It is time to look at the clock.
__attribute__((noinline)) void waited(const Call& call, const void* cq, Waiting& waiting) {
  Checker& checker = Checker::get();
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  // Reading the clock costs more than polling: about once a millisecond is enough, also for a program that sleeps
  // between.
  constexpr std::int64_t millisecond = 1'000'000;
  constexpr unsigned most = 4096;
  if (waiting.read_ns != 0) {
    waiting.step =
        now - waiting.read_ns < millisecond ? std::min(waiting.step * 2, most) : std::max(waiting.step / 2, 1U);
  }
  waiting.next = waiting.polls + waiting.step;
  waiting.read_ns = now;
  if (waiting.since_ns == 0) {
    waiting.since_ns = now;
    waiting.sequence = checker.data.sequence();
    return;
  }
  if (now - waiting.since_ns > millisecond) {
    checker.flush_trace();  // there is time for it
  }
  if (now - waiting.since_ns > checker.patience_ns() && !waiting.is_explained) {
    const std::lock_guard lock{checker.mutex};
    if (const auto fault = checker.data.fault_of_waiting(cq, waiting.sequence)) {
      checker.report(call, cq, *fault);
      waiting.is_explained = true;
    }
    waiting.since_ns = now;
    waiting.sequence = checker.data.sequence();
  }
}

// What is not defined in a failed completion shall not look as if it were: a program that reads it fails here too, not
// only on hardware.
void poison(ibv_wc& completion) {
  completion.opcode = static_cast<ibv_wc_opcode>(0x7e);
  completion.byte_len = 0xa5a5a5a5;
  completion.imm_data = 0xa5a5a5a5;
  completion.src_qp = 0xa5a5a5;
}

// As if the device had reported it: its QP goes to ERR, too.
void fail_qp(const void* address) {
  if (address == nullptr) {
    return;
  }
  const Depth depth;
  auto* const qp = static_cast<ibv_qp*>(const_cast<void*>(address));
  ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
  real<int(ibv_qp*, ibv_qp_attr*, int)>("ibv_modify_qp")(qp, &attr, IBV_QP_STATE);
}

// What has_completion() took, one a CQ. Almost never is there one: looked at only where it is counted.
std::atomic<int> taken_count{0};
std::map<const void*, ibv_wc> taken;

// The completion that was taken from this CQ comes first.
int give_taken(ibv_cq* cq, int entries, ibv_wc* completions) {
  const std::lock_guard lock{Checker::get().mutex};
  const auto found = entries > 0 ? taken.extract(cq) : decltype(taken)::node_type{};
  if (found.empty()) {
    return 0;
  }
  --taken_count;
  completions[0] = found.mapped();
  return 1;
}

// What was taken, and what the CQ has.
__attribute__((noinline)) int poll_with_taken(ibv_cq* cq, int entries, ibv_wc* completions) {
  const int first = give_taken(cq, entries, completions);
  if (first == entries) {
    return first;
  }
  const int more = original(cq->context).poll_cq(cq, entries - first, completions + first);
  return more < 0 && first == 0 ? more : first + std::max(more, 0);
}

int poll(ibv_cq* cq, int entries, ibv_wc* completions) {
  return taken_count.load(std::memory_order_relaxed) == 0 ? original(cq->context).poll_cq(cq, entries, completions)
                                                          : poll_with_taken(cq, entries, completions);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  const Call call{"ibv_req_notify_cq", __builtin_return_address(0)};
  Checker& checker = Checker::get();
  int result = checker.injected(call);
  if (result == 0) {
    result = arm(cq, solicited_only, original(cq->context).req_notify_cq);
  }
  checker.record(call, cq, result, [&](Line& line) { line.add("solicited_only", solicited_only); });
  return result;
}

// Something was found, or the verb has failed.
__attribute__((noinline)) void polled(const Call& call, ibv_cq* cq, int entries, int found, ibv_wc* completions) {
  Checker& checker = Checker::get();
  waiting_for(cq) = {.cq = cq};
  std::vector<const void*> failed;
  {
    const std::lock_guard lock{checker.mutex};
    for (int i = 0; i < found; ++i) {
      ibv_wc& completion = completions[i];
      const void* const qp = checker.data.qp_of(completion.qp_num, cq);
      if (completion.status == IBV_WC_SUCCESS) {
        completion.status = checker.injected_status();
        if (completion.status != IBV_WC_SUCCESS) {
          failed.push_back(qp);
        }
      }
      if (const auto faults = checker.data.polled(cq, completion); !faults.empty()) {
        checker.report(call, qp, faults);
      }
      if (completion.status != IBV_WC_SUCCESS) {
        poison(completion);
      }
    }
  }
  std::ranges::for_each(failed, fail_qp);
  checker.record_often(Shape::completions, call, cq, found, entries, [&](Trace& trace) {
    for (int i = 0; i < found; ++i) {
      const ibv_wc& completion = completions[i];
      trace.add({.wr_id = completion.wr_id,
                 .length = completion.byte_len,
                 .opcode = completion.opcode,
                 .status = completion.status,
                 .qp = checker.name_of_qp(completion.qp_num, cq)});
    }
  });
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  const Call call{"ibv_poll_cq", __builtin_return_address(0)};
  const int code = Checker::get().injected(call);
  const int found = code != 0 ? -code : poll(cq, entries, completions);
  if (found != 0) {
    polled(call, cq, entries, found, completions);
  } else if (Waiting& waiting = waiting_for(cq); ++waiting.polls >= waiting.next) {
    // By far the most frequent way through the checker goes by this: nothing to note, and next to nothing to pay.
    waited(call, cq, waiting);
  }
  return found;
}

}  // namespace

bool is_watched(const ibv_context* context) {
  return std::ranges::any_of(originals, [&](const Original& entry) { return entry.context.load() == context; });
}

bool has_completion(const void* cq) {
  const std::lock_guard lock{Checker::get().mutex};
  if (taken.contains(cq)) {
    return true;
  }
  auto* const queue = static_cast<ibv_cq*>(const_cast<void*>(cq));
  ibv_wc completion{};
  if (original(queue->context).poll_cq(queue, 1, &completion) != 1) {
    return false;
  }
  taken[cq] = completion;
  ++taken_count;
  return true;
}

void watch_data(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  for (Original& entry : originals) {
    if (entry.context.load() == nullptr) {
      entry.ops = context->ops;
      entry.context.store(context, std::memory_order_release);
      context->ops.post_send = post_send;
      context->ops.post_recv = post_recv;
      context->ops.post_srq_recv = post_srq_recv;
      context->ops.poll_cq = poll_cq;
      context->ops.req_notify_cq = req_notify_cq;
      return;
    }
  }
}

void unwatch_data(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  for (Original& entry : originals) {
    if (entry.context.load() == context) {
      context->ops = entry.ops;
      entry.context.store(nullptr);
      return;
    }
  }
}

}  // namespace verbs_check
