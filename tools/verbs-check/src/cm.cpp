#include "cm.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace verbs_check {

namespace {

constexpr std::array event_names{
    "RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
    "RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
    "RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
    "RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
    "RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
    "RDMA_CM_EVENT_TIMEWAIT_EXIT"};

const char* step_text(Step step) {
  switch (step) {
    case Step::idle:
      return "whose address is not resolved";
    case Step::address:
      return "whose route is not resolved";
    case Step::route:
      return "whose route is resolved";
    case Step::connecting:
      return "that is connecting already";
    case Step::listening:
      return "that listens";
    case Step::request:
      return "that came with a connection request";
    case Step::accepted:
    case Step::established:
      return "that is connected already";
    case Step::ended:
      return "whose connection has ended";
  }
  return "";
}

// Where a verb must stand in the sequence, and what brings the identifier there.
struct Order {
  std::string_view verb;
  Step wanted;
  const char* before;
};

constexpr std::array orders{
    Order{"rdma_resolve_addr", Step::idle, "it is the first step of a new identifier"},
    Order{"rdma_listen", Step::idle, "an identifier listens or connects, not both"},
    Order{"rdma_resolve_route", Step::address, "call rdma_resolve_addr, and read RDMA_CM_EVENT_ADDR_RESOLVED first"},
    Order{"rdma_connect", Step::route, "call rdma_resolve_route, and read RDMA_CM_EVENT_ROUTE_RESOLVED first"},
    Order{"rdma_accept", Step::request, "accept the identifier that came with RDMA_CM_EVENT_CONNECT_REQUEST, once"},
};

}  // namespace

const char* event_name(rdma_cm_event_type type) {
  const auto index = static_cast<std::size_t>(type);
  return index < event_names.size() ? event_names.at(index) : "an unknown event";
}

bool is_failure(rdma_cm_event_type type, int status) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
      return true;
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
      return status != 0;
    default:
      return false;
  }
}

Setback explain(rdma_cm_event_type type, int status, const std::string& peer) {
  Setback failure{std::string{event_name(type)} + ", status " + std::to_string(status) + ", for " + peer, "", ""};
  constexpr int nobody_listens = 8;  // reasons of a reject in the specification: an invalid service ID,
  constexpr int by_program = 28;     // and a reject of the consumer
  switch (type) {
    case RDMA_CM_EVENT_REJECTED:
      if (status == nobody_listens) {
        failure.why =
            "likely, in this order: nobody listens there yet; the server listens on another port; it listens on "
            "another "
            "of its addresses, or in another port space";
        failure.mend = "start the server first, or try again with a new cm_id after a pause: this one is used up";
      } else if (status == by_program) {
        failure.why =
            "the program there has called rdma_reject, or destroyed the cm_id of the request without an answer";
        failure.mend = "look at what the server says; its private data comes with the event";
      } else {
        failure.why =
            "the status is the reason of the reject in the InfiniBand specification; 10: the other side still "
            "has an old connection of this QP number";
        failure.mend = "try again with a new cm_id and a new QP";
      }
      break;
    case RDMA_CM_EVENT_UNREACHABLE:
      failure.why =
          "likely, in this order: a firewall drops UDP port 4791; the RDMA device of that host is down; the "
          "address belongs to a host without RDMA; the server is too slow to accept";
      failure.mend = "try rping between the two hosts; look at `rdma link` on both";
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      failure.why =
          "likely, in this order: no host has this address; the interface on the way to it has no RDMA device "
          "(127.0.0.1 and lo have none); the network is down";
      failure.mend = "take an address of an interface that `rdma link` names, also for the own host, and ping it";
      break;
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      failure.why =
          "likely, in this order: the address is 127.0.0.1 or another one of lo, which has no RDMA device; the "
          "timeout of rdma_resolve_route was too short";
      failure.mend = "take an address of an interface that `rdma link` names, also for the own host";
      break;
    default:
      failure.why =
          status == -ENODEV ? "there is no RDMA device on the way to this address" : "the handshake has failed";
      failure.mend = "destroy the cm_id, and try again with a new one";
      break;
  }
  return failure;
}

Setback no_such_address(const std::string& verb) {
  return {verb + " answers EADDRNOTAVAIL",
          "no interface of this host has the address: rdma_cm needs an IP address on the RDMA interface, on both ends",
          "see `ip addr` and `rdma link`: give the interface an address, or take one that it has"};
}

unsigned private_data_limit(std::string_view verb, rdma_port_space space) {
  // What the message of the specification holds, less the header of 36 bytes that rdma_cm puts before it in a request
  // when it speaks of IP addresses.
  if (space != RDMA_PS_TCP && space != RDMA_PS_UDP) {
    return 0;
  }
  const bool is_tcp = space == RDMA_PS_TCP;
  if (verb == "rdma_connect") {
    return is_tcp ? 56 : 180;
  }
  if (verb == "rdma_accept") {
    return is_tcp ? 196 : 136;
  }
  if (verb == "rdma_reject") {
    return is_tcp ? 148 : 136;
  }
  return 0;
}

void Cm::waits_itself(const void* id, bool value) {
  if (const auto found = ids_.find(id); found != ids_.end()) {
    found->second.waits_itself = value;
  }
}

bool Cm::is_waiting_itself(const void* id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() && found->second.waits_itself;
}

void Cm::came(const void* id, rdma_cm_event_type type, int status, const std::string& peer, const void* where) {
  const auto found = ids_.find(id);
  if (found == ids_.end()) {
    return;
  }
  Id& entry = found->second;
  if (is_failure(type, status)) {
    failed(id, explain(type, status, peer), where);
  }
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      entry.step = status == 0 ? Step::address : Step::idle;
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
      entry.step = Step::idle;
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      entry.step = status == 0 ? Step::route : Step::address;
      break;
    case RDMA_CM_EVENT_ROUTE_ERROR:
      entry.step = Step::address;
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      entry.step = Step::established;
      break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_DISCONNECTED:
      entry.step = Step::ended;
      break;
    default:
      break;
  }
}

void Cm::failed(const void* id, const Setback& failure, const void* where) {
  if (const auto found = ids_.find(id); found != ids_.end()) {
    found->second.failure = failure;
    found->second.where = where;
    found->second.was_said = false;
  }
}

void Cm::done(const void* id, std::string_view verb) {
  const auto found = ids_.find(id);
  if (found == ids_.end()) {
    return;
  }
  Id& entry = found->second;
  if (verb == "rdma_connect") {
    entry.step = Step::connecting;
  } else if (verb == "rdma_listen") {
    entry.step = Step::listening;
  } else if (verb == "rdma_accept") {
    entry.step = Step::accepted;
  } else if (verb == "rdma_reject") {
    entry.step = Step::ended;
  } else if (verb == "rdma_resolve_addr" || verb == "rdma_resolve_route") {
    entry.failure.reset();  // a second try
  }
}

std::optional<Fault> Cm::fault_of(const void* id, std::string_view verb) {
  const auto found = ids_.find(id);
  const auto* const order = std::ranges::find(orders, verb, &Order::verb);
  if (found == ids_.end() || order == orders.end() || found->second.step == order->wanted) {
    return std::nullopt;
  }
  Id& entry = found->second;
  const std::string what = std::string{verb} + " on a cm_id ";
  if (entry.failure && entry.where != nullptr) {
    entry.was_said = true;
    return Fault{"cm-event-ignored-failure", what + "whose last step has failed: " + entry.failure->what,
                 "rdma_get_cm_event answers 0 for good and bad events; the step has failed, " + entry.failure->why,
                 "compare the type of each event with the one that is waited for; " + entry.failure->mend};
  }
  return Fault{"cm-wrong-order", what + step_text(entry.step),
               "each step needs the one before it, and that has ended only when its event was read; out of order the "
               "verb answers EINVAL, or the library crashes",
               order->before};
}

std::vector<Fault> Cm::take_refusals(const void* id) {
  std::vector<Fault> result;
  for (auto& [place, entry] : ids_) {
    if ((id == nullptr || place == id) && entry.failure && !entry.was_said) {
      entry.was_said = true;
      result.push_back({"cm-refused",
                        "there is no connection: " + entry.failure->what,
                        entry.failure->why,
                        entry.failure->mend,
                        entry.where,
                        {place}});
    }
  }
  return result;
}

bool Cm::has_unbound() const {
  return std::ranges::any_of(
      ids_, [](const auto& entry) { return entry.second.step == Step::idle || entry.second.step == Step::listening; });
}

}  // namespace verbs_check
