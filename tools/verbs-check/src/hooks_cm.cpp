// The functions of librdmacm. This library does not need it: each is looked up when the program calls it. What they
// call in turn, of verbs and of each other, are inner calls.
#include "hooks_cm.hpp"

#include "cm.hpp"
#include "hook.hpp"
#include "hooks_events.hpp"
#include "names.hpp"
#include "real.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <array>

#define CALL(verb) verbs_check::call_at(verb, __builtin_return_address(0))
#define NEXT(function) verbs_check::real<decltype(function)>(#function)

namespace verbs_check {

namespace {

// "192.0.2.1, port 18515"
std::string peer_text(const rdma_cm_id* id) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (id->route.addr.dst_addr.sa_family == AF_INET6) {
    const sockaddr_in6& address = id->route.addr.dst_sin6;
    inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
    return std::string{text.data()} + ", port " + std::to_string(ntohs(address.sin6_port));
  }
  if (id->route.addr.dst_addr.sa_family == AF_INET) {
    const sockaddr_in& address = id->route.addr.dst_sin;
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return std::string{text.data()} + ", port " + std::to_string(ntohs(address.sin_port));
  }
  return "an address that is not known yet";
}

// Says what has failed before. Under the mutex.
void say_refusals(const Call& call, const void* id) {
  Checker& checker = Checker::get();
  for (const Fault& fault : checker.cm.take_refusals(id)) {
    checker.report(call, nullptr, fault);
  }
}

// Says what is wrong with calling the verb now; what the last event meant, when the program takes no notice of it.
bool is_faulty(const Call& call, const rdma_cm_id* id) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  const auto fault = checker.cm.fault_of(id, call.verb);
  if (fault) {
    checker.report(call, id, *fault);
  }
  say_refusals(call, id);
  return fault.has_value();
}

// A verb with a cm_id waits for the events itself where the program gave no channel, and keeps the last one in the
// cm_id.
void look_at_kept_event(const Call& call, rdma_cm_id* id, int result, int code) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  if (result == 0) {
    checker.cm.done(id, call.verb);
  }
  const std::string_view verb = call.verb;
  const bool has_waited = verb == "rdma_resolve_addr" || verb == "rdma_resolve_route" || verb == "rdma_connect" ||
                          verb == "rdma_accept" || (verb == "rdma_disconnect" && result == 0);
  if (has_waited && checker.cm.is_waiting_itself(id) && id->event != nullptr) {
    checker.cm.came(id, id->event->event, id->event->status, peer_text(id), call.where);
  } else if (result != 0 && code == ENODEV) {
    // No event comes: the interface on the way has no RDMA device.
    Setback failure = explain(RDMA_CM_EVENT_ROUTE_ERROR, -code, peer_text(id));
    failure.what = std::string{call.verb} + " answers ENODEV for " + peer_text(id);
    checker.cm.failed(id, failure, call.where);
  } else if (result != 0 && code == EADDRNOTAVAIL) {
    checker.cm.failed(id, no_such_address(call.verb), call.where);
  }
  if (result != 0) {
    say_refusals(call, id);
  }
}

// What came of a call: what it returned, and errno as it has left it.
template <class T>
struct Outcome {
  T result;
  int code;
  bool has_failed;
};

// Makes the call. A verb that fails returns `failed`.
template <class T, class Real>
Outcome<T> made(T failed, Real real) {
  const Within within;
  const T result = real();
  return {result, errno, result == failed};
}

// The same, unless the call shall fail.
template <class T, class Real>
Outcome<T> attempt(const Call& call, T failed, Real real) {
  const int code = Checker::get().injected(call);
  return code != 0 ? Outcome<T>{failed, code, true} : made(failed, real);
}

// Takes it down, and hands it to the program.
template <class T, class Arguments>
T answer(const Call& call, const void* object, const Outcome<T>& outcome, Arguments arguments) {
  Checker::get().record(call, object, outcome.has_failed ? outcome.code : 0, arguments);
  errno = outcome.code;
  return outcome.result;
}

template <class T>
T answer(const Call& call, const void* object, const Outcome<T>& outcome) {
  return answer(call, object, outcome, [](Line&) {});
}

// A verb that answers 0, or -1 with errno, and is given a cm_id. `must_be_bound`: it would crash without a device.
template <class Real>
int on_id(const Call& call, rdma_cm_id* id, bool must_be_bound, Real real) {
  if (call.is_inner) {
    return real();
  }
  if (is_gone(call, id) || (is_faulty(call, id) && must_be_bound && id->verbs == nullptr)) {
    errno = EINVAL;
    return -1;
  }
  return answer(call, id, attempt(call, -1, [&] {
                  const int result = real();
                  const int code = errno;
                  look_at_kept_event(call, id, result, code);
                  errno = code;
                  return result;
                }));
}

// The object that an event keeps from being destroyed: for a request that is the listening cm_id.
const void* held_by(const rdma_cm_event& event) {
  return event.event == RDMA_CM_EVENT_CONNECT_REQUEST ? event.listen_id : event.id;
}

// Enters what the verb has made. Under the mutex.
void add(const Call& call, const void* made, Kind kind, std::set<const void*> used) {
  Checker& checker = Checker::get();
  used.erase(nullptr);
  checker.events.forget(made);
  checker.model.add(made, kind, call.where, std::move(used));
}

void add_id(const Call& call, const rdma_cm_id* id, Step step, bool waits_itself) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  // A channel that the library has made for the cm_id is its own.
  add(call, id, Kind::cm_id, {waits_itself ? nullptr : id->channel});
  checker.cm.add(id, step, waits_itself);
}

// A verb that returns 0 and a new cm_id in *made, or -1.
template <class Real>
int make_id(const Call& call, const void* needed, rdma_cm_id** made, Step step, bool waits_itself, Real real) {
  if (call.is_inner) {
    return real();
  }
  if (is_gone(call, needed)) {
    errno = EINVAL;
    return -1;
  }
  const Outcome<int> outcome = attempt(call, -1, real);
  if (!outcome.has_failed) {
    add_id(call, *made, step, waits_itself);
  }
  return answer(call, outcome.has_failed ? nullptr : *made, outcome);
}

// Before rdma_destroy_id and its like.
void before_destroy_id(const Call& call, rdma_cm_id* id) {
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    say_refusals(call, id);
  }
  say_unacked(
      call, id, "cm-event-unacked", "rdma_get_cm_event",
      "rdma_ack_cm_event for each event on every way, also for those that report a failure, before the cm_id is "
      "destroyed",
      [&] {
        std::uint64_t count = 0;
        for (const Object* const user : checker.model.users(id)) {
          count += user->kind == Kind::cm_event ? 1 : 0;
        }
        return count;
      });
}

// Destroys by a verb of librdmacm.
template <class Real>
int destroy_id(const Call& call, rdma_cm_id* id, Real real) {
  if (call.is_inner) {
    return real();
  }
  if (is_gone(call, id)) {
    errno = EINVAL;
    return -1;
  }
  before_destroy_id(call, id);
  Checker& checker = Checker::get();
  Object taken;
  {
    const std::lock_guard lock{checker.mutex};
    if (const Object* const object = checker.model.living(id); object != nullptr) {
      taken = *object;
      checker.model.remove(id, call.where);
    }
  }
  const Outcome<int> outcome = attempt(call, -1, real);
  {
    const std::lock_guard lock{checker.mutex};
    if (!outcome.has_failed) {
      checker.cm.remove(id);
    } else if (taken.sequence != 0) {
      checker.model.restore(id, taken);
    }
  }
  return answer(call, id, outcome);
}

// What is wrong with making a QP on this cm_id. True: the library would crash.
bool is_wrong_qp(const Call& call, const rdma_cm_id* id, const ibv_pd* pd, const ibv_cq* send_cq,
                 const ibv_cq* recv_cq) {
  if (is_unbound(call, id->verbs)) {
    return true;
  }
  std::vector<const void*> strangers;
  const auto look = [&](const auto* object) {
    if (object != nullptr && object->context != id->verbs) {
      strangers.push_back(object);
    }
  };
  look(pd);
  const bool wrong_pd = !strangers.empty();
  look(send_cq);
  look(recv_cq);
  if (!strangers.empty()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.report(
        call, id,
        {"cm-qp-other-device",
         std::string{call.verb} + " with a " + (wrong_pd ? "PD" : "CQ") + " of another context than that of the cm_id",
         std::string{"rdma_cm opens the device by itself: each ibv_open_device is another context, also for the same "
                     "device, and "} +
             (wrong_pd ? "the verb answers EINVAL"
                       : "the kernel looks for a CQ with this handle in the context of the cm_id: the verb answers "
                         "EINVAL, or makes the QP with another CQ"),
         "make PD and CQ from id->verbs once the address is resolved, or give no PD: then id->pd is used", nullptr,
         strangers});
  }
  return false;
}

void check_private_data(const Call& call, const rdma_cm_id* id, const void* data, unsigned length) {
  const unsigned limit = private_data_limit(call.verb, id->ps);
  if (call.is_inner || data == nullptr || limit == 0 || length <= limit) {
    return;
  }
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  checker.report(call, id,
                 {"cm-private-data-too-long",
                  std::string{call.verb} + " with " + std::to_string(length) + " bytes of private data",
                  "the message has room for " + std::to_string(limit) +
                      (id->ps == RDMA_PS_TCP ? " in RDMA_PS_TCP" : " in RDMA_PS_UDP") + ", and the verb answers EINVAL",
                  "send what is longer as the first message of the connection"});
}

}  // namespace

bool is_unbound(const Call& call, const void* context) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  if (context != nullptr || call.is_inner || !checker.cm.has_unbound()) {
    return false;
  }
  checker.report(
      call, nullptr,
      {"cm-id-not-bound", std::string{call.verb} + " with a null device",
       "`verbs` of a cm_id is null until its address is resolved: the library would crash",
       "read RDMA_CM_EVENT_ADDR_RESOLVED first; a server takes the cm_id of the CONNECT_REQUEST, or binds to an "
       "address of one device"});
  return true;
}

}  // namespace verbs_check

using namespace verbs_check;

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  const auto next = NEXT(rdma_create_event_channel);
  const Call call = CALL("rdma_create_event_channel");
  if (call.is_inner) {
    return next();
  }
  const auto outcome = attempt(call, static_cast<rdma_event_channel*>(nullptr), next);
  if (!outcome.has_failed) {
    const std::lock_guard lock{Checker::get().mutex};
    add(call, outcome.result, Kind::event_channel, {});
  }
  return answer(call, outcome.result, outcome);
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  const Call call = CALL("rdma_destroy_event_channel");
  if (!call.is_inner) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    const auto users = checker.model.users(channel);
    if (const Object* const object = checker.model.living(channel); object != nullptr && !users.empty()) {
      checker.report(call, "closed-with-children", object->name + " is destroyed while a cm_id of it lives",
                     describe(users, resolve), "rdma_destroy_id writes to its descriptor, which is closed then",
                     "destroy each cm_id first, or move it away with rdma_migrate_id");
    }
  }
  const auto next = NEXT(rdma_destroy_event_channel);
  if (call.is_inner) {
    next(channel);
    return;
  }
  destroy(call, channel, [&] {
    next(channel);
    return 0;
  });
}

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space space) {
  return make_id(CALL("rdma_create_id"), channel, id, Step::idle, channel == nullptr,
                 [&] { return NEXT(rdma_create_id)(channel, id, context, space); });
}

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* address, ibv_pd* pd, ibv_qp_init_attr* attr) {
  const bool is_passive = (address->ai_flags & RAI_PASSIVE) != 0;
  const Call call = CALL("rdma_create_ep");
  const int result = make_id(call, pd, id, is_passive ? Step::idle : Step::route, true,
                             [&] { return NEXT(rdma_create_ep)(id, address, pd, attr); });
  if (result == 0 && !call.is_inner) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.model.living(*id)->destroy = "rdma_destroy_ep";
  }
  return result;
}

int rdma_get_request(rdma_cm_id* listening, rdma_cm_id** id) {
  return make_id(CALL("rdma_get_request"), listening, id, Step::request, true,
                 [&] { return NEXT(rdma_get_request)(listening, id); });
}

int rdma_destroy_id(rdma_cm_id* id) {
  return destroy_id(CALL("rdma_destroy_id"), id, [&] { return NEXT(rdma_destroy_id)(id); });
}

void rdma_destroy_ep(rdma_cm_id* id) {
  destroy_id(CALL("rdma_destroy_ep"), id, [&] {
    NEXT(rdma_destroy_ep)(id);
    return 0;
  });
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  const auto next = NEXT(rdma_get_cm_event);
  const Call call = CALL("rdma_get_cm_event");
  if (call.is_inner) {
    return next(channel, event);
  }
  if (is_gone(call, channel)) {
    errno = EINVAL;
    return -1;
  }
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    say_refusals(call, nullptr);
  }
  const Outcome<int> outcome = attempt(call, -1, [&] { return next(channel, event); });
  if (!outcome.has_failed) {
    const rdma_cm_event& got = **event;
    if (got.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      add_id(call, got.id, Step::request, false);
    }
    const std::lock_guard lock{checker.mutex};
    checker.cm.came(got.id, got.event, got.status, peer_text(got.id), call.where);
    add(call, *event, Kind::cm_event, {held_by(got)});
    checker.model.living(*event)->name = event_name(got.event);
  }
  return answer(call, channel, outcome, [&](Line& line) {
    if (!outcome.has_failed) {
      line.add("event", event_name((*event)->event))
          .add("status", (*event)->status)
          .add("id", checker.name((*event)->id));
    }
  });
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  const auto next = NEXT(rdma_ack_cm_event);
  const Call call = CALL("rdma_ack_cm_event");
  if (call.is_inner) {
    return next(event);
  }
  // destroy() answers with an errno value, where this verb has -1.
  return destroy(call, event, [&] { return next(event); }) == 0 ? 0 : -1;
}

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  return on_id(CALL("rdma_bind_addr"), id, false, [&] { return NEXT(rdma_bind_addr)(id, address); });
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int timeout) {
  return on_id(CALL("rdma_resolve_addr"), id, false,
               [&] { return NEXT(rdma_resolve_addr)(id, source, destination, timeout); });
}

int rdma_resolve_route(rdma_cm_id* id, int timeout) {
  return on_id(CALL("rdma_resolve_route"), id, true, [&] { return NEXT(rdma_resolve_route)(id, timeout); });
}

int rdma_listen(rdma_cm_id* id, int backlog) {
  return on_id(CALL("rdma_listen"), id, false, [&] { return NEXT(rdma_listen)(id, backlog); });
}

int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  const Call call = CALL("rdma_connect");
  if (param != nullptr) {
    check_private_data(call, id, param->private_data, param->private_data_len);
  }
  return on_id(call, id, true, [&] { return NEXT(rdma_connect)(id, param); });
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
  const Call call = CALL("rdma_accept");
  if (param != nullptr) {
    check_private_data(call, id, param->private_data, param->private_data_len);
  }
  return on_id(call, id, true, [&] { return NEXT(rdma_accept)(id, param); });
}

int rdma_reject(rdma_cm_id* id, const void* data, uint8_t length) {
  const Call call = CALL("rdma_reject");
  check_private_data(call, id, data, length);
  return on_id(call, id, false, [&] { return NEXT(rdma_reject)(id, data, length); });
}

int rdma_establish(rdma_cm_id* id) {
  return on_id(CALL("rdma_establish"), id, false, [&] { return NEXT(rdma_establish)(id); });
}

int rdma_disconnect(rdma_cm_id* id) {
  return on_id(CALL("rdma_disconnect"), id, false, [&] { return NEXT(rdma_disconnect)(id); });
}

int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  return on_id(CALL("rdma_notify"), id, false, [&] { return NEXT(rdma_notify)(id, event); });
}

int rdma_set_option(rdma_cm_id* id, int level, int name, void* value, size_t length) {
  const Call call = CALL("rdma_set_option");
  const int result = on_id(call, id, false, [&] { return NEXT(rdma_set_option)(id, level, name, value, length); });
  if (result == 0 && !call.is_inner && level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.cm.came(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, {}, call.where);  // the program has found the route itself
  }
  return result;
}

int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attr, int* mask) {
  return on_id(CALL("rdma_init_qp_attr"), id, false, [&] { return NEXT(rdma_init_qp_attr)(id, attr, mask); });
}

int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  const Call call = CALL("rdma_migrate_id");
  const int result = on_id(call, id, false, [&] { return NEXT(rdma_migrate_id)(id, channel); });
  if (result == 0 && !call.is_inner) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.cm.waits_itself(id, channel == nullptr);
    if (Object* const object = checker.model.living(id); object != nullptr) {
      object->used = {channel};
      object->used.erase(nullptr);
    }
  }
  return result;
}

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
  const Call call = CALL("rdma_create_qp");
  return on_id(call, id, false, [&] {
    if (!call.is_inner && is_wrong_qp(call, id, pd, attr->send_cq, attr->recv_cq)) {
      errno = EINVAL;
      return -1;
    }
    return NEXT(rdma_create_qp)(id, pd, attr);
  });
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr) {
  const Call call = CALL("rdma_create_qp_ex");
  return on_id(call, id, false, [&] {
    const ibv_pd* const pd = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? attr->pd : nullptr;
    if (!call.is_inner && is_wrong_qp(call, id, pd, attr->send_cq, attr->recv_cq)) {
      errno = EINVAL;
      return -1;
    }
    return NEXT(rdma_create_qp_ex)(id, attr);
  });
}

void rdma_destroy_qp(rdma_cm_id* id) {
  const Call call = CALL("rdma_destroy_qp");
  on_id(call, id, false, [&] {
    if (id->qp == nullptr) {  // the library would crash
      Checker& checker = Checker::get();
      const std::lock_guard lock{checker.mutex};
      checker.report(call, id,
                     {"destroyed-twice", "rdma_destroy_qp on a cm_id that has no QP, or no more",
                      "rdma_destroy_qp sets id->qp to null; the library would crash at the second time",
                      "give each object one owner; look at id->qp before"});
      return 0;
    }
    NEXT(rdma_destroy_qp)(id);
    return 0;
  });
}

int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  return on_id(CALL("rdma_create_srq"), id, false, [&] { return NEXT(rdma_create_srq)(id, pd, attr); });
}

int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  return on_id(CALL("rdma_create_srq_ex"), id, false, [&] { return NEXT(rdma_create_srq_ex)(id, attr); });
}

void rdma_destroy_srq(rdma_cm_id* id) {
  on_id(CALL("rdma_destroy_srq"), id, false, [&] {
    NEXT(rdma_destroy_srq)(id);
    return 0;
  });
}

int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  return on_id(CALL("rdma_join_multicast"), id, false, [&] { return NEXT(rdma_join_multicast)(id, address, context); });
}

int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr, void* context) {
  return on_id(CALL("rdma_join_multicast_ex"), id, false,
               [&] { return NEXT(rdma_join_multicast_ex)(id, attr, context); });
}

int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  return on_id(CALL("rdma_leave_multicast"), id, false, [&] { return NEXT(rdma_leave_multicast)(id, address); });
}

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result) {
  const Call call = CALL("rdma_getaddrinfo");
  const auto next = NEXT(rdma_getaddrinfo);
  if (call.is_inner) {
    return next(node, service, hints, result);
  }
  Checker& checker = Checker::get();
  // It answers -1 with errno, or one of the numbers of getaddrinfo(3).
  int code = -1;
  int left_in_errno = checker.injected(call);
  if (left_in_errno == 0) {
    const Within within;
    code = next(node, service, hints, result);
    left_in_errno = errno;
  }
  if (code == 0) {
    const std::lock_guard lock{checker.mutex};
    add(call, *result, Kind::cm_addresses, {});
  }
  checker.record(call, code == 0 ? *result : nullptr, code == -1 ? left_in_errno : code);
  errno = left_in_errno;
  return code;
}

void rdma_freeaddrinfo(rdma_addrinfo* addresses) {
  const auto next = NEXT(rdma_freeaddrinfo);
  const Call call = CALL("rdma_freeaddrinfo");
  if (call.is_inner) {
    next(addresses);
    return;
  }
  destroy(call, addresses, [&] {
    next(addresses);
    return 0;
  });
}

ibv_context** rdma_get_devices(int* count) {
  const Call call = CALL("rdma_get_devices");
  const auto next = NEXT(rdma_get_devices);
  if (call.is_inner) {
    return next(count);
  }
  const auto outcome = attempt(call, static_cast<ibv_context**>(nullptr), [&] { return next(count); });
  if (!outcome.has_failed) {
    const std::lock_guard lock{Checker::get().mutex};
    add(call, outcome.result, Kind::cm_devices, {});
  }
  return answer(call, outcome.result, outcome);
}

void rdma_free_devices(ibv_context** list) {
  const auto next = NEXT(rdma_free_devices);
  const Call call = CALL("rdma_free_devices");
  if (call.is_inner) {
    next(list);
    return;
  }
  destroy(call, list, [&] {
    next(list);
    return 0;
  });
}

}  // extern "C"
