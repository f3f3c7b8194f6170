// The verbs that hand out events, and what waits for their acknowledgement.
#include "hooks_events.hpp"

#include "hook.hpp"
#include "hooks_data.hpp"
#include "real.hpp"
#include "wait.hpp"

#include <infiniband/verbs.h>
#include <poll.h>

#include <deque>
#include <map>

namespace verbs_check {

namespace {

using std::chrono::milliseconds;

std::chrono::milliseconds patience() { return milliseconds{Checker::get().patience_ns() / 1'000'000}; }

// The object that an asynchronous event is about: a QP, CQ, SRQ or WQ; for events of the device null.
const void* subject(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return event.element.cq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return event.element.qp;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return event.element.srq;
    case IBV_EVENT_WQ_FATAL:
      return event.element.wq;
    default:
      return nullptr;
  }
}

// Events that are no news of the ordinary: an object has failed, or what was asked for has come.
const char* notable(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return "IBV_EVENT_CQ_ERR";
    case IBV_EVENT_QP_FATAL:
      return "IBV_EVENT_QP_FATAL";
    case IBV_EVENT_QP_REQ_ERR:
      return "IBV_EVENT_QP_REQ_ERR";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "IBV_EVENT_QP_ACCESS_ERR";
    case IBV_EVENT_PATH_MIG_ERR:
      return "IBV_EVENT_PATH_MIG_ERR";
    case IBV_EVENT_SRQ_ERR:
      return "IBV_EVENT_SRQ_ERR";
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return "IBV_EVENT_SRQ_LIMIT_REACHED";
    case IBV_EVENT_DEVICE_FATAL:
      return "IBV_EVENT_DEVICE_FATAL";
    default:
      return nullptr;
  }
}

bool is_readable(int descriptor) {
  pollfd request{.fd = descriptor, .events = POLLIN};
  return poll(&request, 1, 0) == 1;
}

// Asynchronous events that were read here and not by the program yet: its next ibv_get_async_event gets them.
std::map<const void*, std::deque<ibv_async_event>> unread;

// Reads what is pending, unless somebody else does: a descriptor that does not block belongs to somebody who reads it
// when it is readable.
void read_pending(ibv_context* context) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  if (checker.events.is_async_read(context) || !is_blocking(context->async_fd)) {
    return;
  }
  const auto get = real<int(ibv_context*, ibv_async_event*)>("ibv_get_async_event");
  for (ibv_async_event event{}; is_readable(context->async_fd) && get(context, &event) == 0;) {
    unread[context].push_back(event);
  }
}

// Says which events of the object, or of the device when it is null, nobody will read any more: the kernel drops them
// with the object.
void say_unread(const Call& call, const void* object, ibv_context* context) {
  Checker& checker = Checker::get();
  std::vector<ibv_async_event> lost;
  std::string names;
  {
    const std::lock_guard lock{checker.mutex};
    const auto found = unread.find(context);
    if (found == unread.end()) {
      return;
    }
    std::erase_if(found->second, [&](const ibv_async_event& event) {
      if (object != nullptr && subject(event) != object) {
        return false;
      }
      lost.push_back(event);
      if (const char* const name = notable(event.event_type); name != nullptr) {
        const std::string_view of = checker.name(subject(event));
        const std::string text = of.empty() ? name : std::string{name} + " of " + std::string{of};
        if (names.find(text) == std::string::npos) {
          names += (names.empty() ? "" : ", ") + text;
        }
      }
      return true;
    });
    if (found->second.empty()) {
      unread.erase(found);
    }
    if (!names.empty()) {
      checker.report(call, "async-events-unread", "asynchronous events of the device were never read", names,
                     "that something has failed outside a request, or that a limit was reached, is said there and "
                     "nowhere else",
                     "a thread in ibv_get_async_event, or the async_fd of the context in the event loop; acknowledge "
                     "each event");
    }
  }
  for (ibv_async_event& event : lost) {
    real<void(ibv_async_event*)>("ibv_ack_async_event")(&event);
  }
}

// The first event of this device that was read before; false when there is none.
bool give_unread(ibv_context* context, ibv_async_event* event) {
  const std::lock_guard lock{Checker::get().mutex};
  const auto found = unread.find(context);
  if (found == unread.end()) {
    return false;
  }
  *event = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) {
    unread.erase(found);
  }
  return true;
}

// Says why the wait that comes will not end, if that is known. True: a signal has ended it.
bool before_waiting(const Call& call, ibv_comp_channel* channel) {
  if (!is_watched(channel->context) || !is_blocking(channel->fd) || is_readable(channel->fd)) {
    return false;
  }
  Checker& checker = Checker::get();
  const auto can_come = [&] {
    const std::lock_guard lock{checker.mutex};
    return checker.events.can_come(channel);
  };
  const std::uint64_t began = checker.data.sequence();
  if (!is_single_threaded() || can_come()) {
    const Wait outcome = wait_readable(channel->fd, patience());
    if (outcome != Wait::too_long) {
      return outcome == Wait::interrupted;
    }
  }
  if (!can_come()) {
    const std::lock_guard lock{checker.mutex};
    const Object* const object = checker.model.living(channel);
    checker.report(
        call, "cq-not-armed", "ibv_get_cq_event waits on a channel none of whose CQs is armed",
        object == nullptr ? "" : describe(*object, resolve),
        "ibv_req_notify_cq gives at most one event, however often it was called before; completions without it give "
        "none, "
        "and the wait never ends",
        "ibv_req_notify_cq before the first wait and again after each event, then poll until the CQ is empty");
    return false;
  }
  // Completions cannot be looked at without taking them: only where no other thread could poll at the same time.
  if (is_single_threaded()) {
    std::vector<const void*> waiting;
    {
      const std::lock_guard lock{checker.mutex};
      waiting = checker.events.waiting(channel);
    }
    for (const void* const cq : waiting) {
      const Object* const object = checker.model.living(cq);
      if (object != nullptr && has_completion(cq)) {
        const std::lock_guard lock{checker.mutex};
        checker.report(
            call, "cq-not-polled-after-arming", "ibv_get_cq_event waits while there is a completion in the CQ",
            describe(*object, resolve),
            "an armed CQ gives its event for the next completion; those that came before the arming give none",
            "after each ibv_req_notify_cq poll until ibv_poll_cq answers 0, and only then wait");
        return false;
      }
    }
  }
  const std::lock_guard lock{checker.mutex};
  for (const void* const cq : checker.events.waiting(channel)) {
    if (const auto fault = checker.data.fault_of_waiting(cq, began)) {
      checker.report(call, cq, *fault);
    }
  }
  return false;
}

}  // namespace

void say_unacked(const Call& call, const void* address, const char* id, const char* get, const char* mend,
                 const std::function<std::uint64_t()>& count) {
  Checker& checker = Checker::get();
  std::uint64_t left = 0;
  const bool is_done = wait_until(patience(), [&] {
    const std::lock_guard lock{checker.mutex};
    left = count();
    return left == 0;
  });
  if (is_done) {
    return;
  }
  const std::lock_guard lock{checker.mutex};
  if (const Object* const object = checker.model.living(address); object != nullptr) {
    checker.report(call, id, object->name + " is destroyed with " + std::to_string(left) + " event(s) not acknowledged",
                   describe(*object, resolve),
                   std::string{call.verb} + " blocks until every event that " + get +
                       " gave is acknowledged: here for ever, unless another thread still does",
                   mend);
  }
}

void before_destroy(const Call& call, const void* object, ibv_context* context) {
  if (Depth::is_inside()) {
    return;
  }
  Checker& checker = Checker::get();
  {
    // QPs come and go while a program runs; when a CQ or an SRQ goes it mostly ends.
    std::unique_lock lock{checker.mutex};
    const Object* const known = checker.model.living(object);
    const bool is_late = known != nullptr && known->kind != Kind::qp;
    lock.unlock();
    if (is_late) {
      read_pending(context);
    }
  }
  say_unread(call, object, context);
  say_unacked(call, object, "cq-events-unacked", "ibv_get_cq_event",
              "count the events of each CQ and ibv_ack_cq_events just as many, at the latest before it is destroyed",
              [&] { return checker.events.unacked(object); });
  say_unacked(call, object, "async-event-unacked", "ibv_get_async_event",
              "ibv_ack_async_event for each event, when what it tells was dealt with",
              [&] { return checker.events.unacked_async(object); });
}

void before_close(const Call& call, ibv_context* context) {
  if (!Depth::is_inside()) {
    read_pending(context);
    say_unread(call, nullptr, context);
  }
}

int arm(ibv_cq* cq, int solicited_only, int (*verb)(ibv_cq*, int)) {
  Checker& checker = Checker::get();
  // No event has come that the program has not read. Another thread may read one at any time.
  const auto none_came = [&] {
    return cq->channel != nullptr && is_single_threaded() && !is_readable(cq->channel->fd);
  };
  bool was_armed = false;
  bool was_solicited_only = false;
  {
    const std::lock_guard lock{checker.mutex};
    was_armed = checker.events.is_armed(cq);
    was_solicited_only = checker.events.is_solicited_only(cq);
  }
  const bool is_armed_still = was_armed && none_came();
  {
    // Before the verb: another thread may get the event before this one is back.
    const std::lock_guard lock{checker.mutex};
    checker.events.armed(cq, cq->channel, solicited_only != 0);
  }
  const int result = verb(cq, solicited_only);
  // An event that has come now may be that of the earlier call: then there are two.
  if (result != 0 || (is_armed_still && none_came())) {
    const std::lock_guard lock{checker.mutex};
    checker.events.armed_in_vain(cq, was_solicited_only && (result != 0 || solicited_only != 0));
  }
  return result;
}

}  // namespace verbs_check

using namespace verbs_check;

extern "C" {

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** context) {
  const auto next = real<int(ibv_comp_channel*, ibv_cq**, void**)>("ibv_get_cq_event");
  const Call call = call_at("ibv_get_cq_event", __builtin_return_address(0));
  const Depth depth;
  if (Depth::is_nested()) {
    return next(channel, cq, context);
  }
  if (is_gone(call, channel)) {
    errno = EINVAL;
    return -1;
  }
  Checker& checker = Checker::get();
  checker.flush_trace();  // it may block
  int result = -1;
  int code = checker.injected(call);
  if (code == 0) {
    if (!call.is_inner && before_waiting(call, channel)) {
      code = EINTR;
    } else {
      result = next(channel, cq, context);
      code = errno;
    }
  }
  if (result == 0) {
    const std::lock_guard lock{checker.mutex};
    checker.events.got(*cq, channel);
  }
  checker.record(call, channel, result == 0 ? 0 : code, [&](Line& line) {
    if (result == 0) {
      line.add("cq", checker.name(*cq));
    }
  });
  errno = code;
  return result;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  const Call call = call_at("ibv_ack_cq_events", __builtin_return_address(0));
  const Depth depth;
  // Not looked up among those destroyed: a CQ whose destruction waits in another thread for just this call stands
  // there.
  if (!Depth::is_nested()) {
    Checker& checker = Checker::get();
    {
      const std::lock_guard lock{checker.mutex};
      checker.events.acked(cq, count);
    }
    checker.record(call, cq, 0, [&](Line& line) { line.add("nevents", count); });
  }
  real<void(ibv_cq*, unsigned)>("ibv_ack_cq_events")(cq, count);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const auto next = real<int(ibv_context*, ibv_async_event*)>("ibv_get_async_event");
  const Call call = call_at("ibv_get_async_event", __builtin_return_address(0));
  const Depth depth;
  if (Depth::is_nested()) {
    return next(context, event);
  }
  if (is_gone(call, context)) {
    errno = EINVAL;
    return -1;
  }
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    checker.events.reads_async(context);
  }
  int result = -1;
  int code = checker.injected(call);
  if (code == 0) {
    result = give_unread(context, event) ? 0 : next(context, event);
    code = errno;
  }
  if (result == 0 && subject(*event) != nullptr) {
    const std::lock_guard lock{checker.mutex};
    checker.events.got_async(subject(*event));
  }
  checker.record(call, context, result == 0 ? 0 : code, [&](Line& line) {
    if (result == 0) {
      line.add("event_type", ibv_event_type_str(event->event_type)).add("element", checker.name(subject(*event)));
    }
  });
  errno = code;
  return result;
}

void ibv_ack_async_event(ibv_async_event* event) {
  const Call call = call_at("ibv_ack_async_event", __builtin_return_address(0));
  const Depth depth;
  if (!Depth::is_nested()) {
    const void* const object = subject(*event);
    Checker& checker = Checker::get();
    {
      const std::lock_guard lock{checker.mutex};
      checker.events.acked_async(object);
    }
    checker.record(call, object, 0);
  }
  real<void(ibv_async_event*)>("ibv_ack_async_event")(event);
}

}  // extern "C"
