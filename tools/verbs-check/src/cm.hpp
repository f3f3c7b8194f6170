// Connection identifiers of rdma_cm: how far each has come, which of its events has failed, and what that means. Pure.
#pragma once

#include "fault.hpp"

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verbs_check {

// How far an identifier has come, as its events have said.
enum class Step { idle, address, route, connecting, listening, request, accepted, established, ended };

// An event that says that something has failed, and a verb that has failed in place of one.
struct Setback {
  std::string what;  // "RDMA_CM_EVENT_REJECTED, status 8, from 192.0.2.1, port 18515"
  std::string why;
  std::string mend;
};

[[nodiscard]] const char* event_name(rdma_cm_event_type type);  // "RDMA_CM_EVENT_REJECTED"

// True for the types and statuses after which the identifier has not come further.
[[nodiscard]] bool is_failure(rdma_cm_event_type type, int status);

// `peer` is the address that was asked for: "192.0.2.1, port 18515".
[[nodiscard]] Setback explain(rdma_cm_event_type type, int status, const std::string& peer);

// The same for a verb that answers EADDRNOTAVAIL.
[[nodiscard]] Setback no_such_address(const std::string& verb);

// The bytes of private data that fit into a message of this verb; 0 where it is not known.
[[nodiscard]] unsigned private_data_limit(std::string_view verb, rdma_port_space space);

class Cm {
public:
  // `waits_itself`: the program gave no event channel, so each verb waits for its event.
  void add(const void* id, Step step, bool waits_itself) { ids_[id] = {.step = step, .waits_itself = waits_itself}; }
  void waits_itself(const void* id, bool value);
  [[nodiscard]] bool is_waiting_itself(const void* id) const;
  void remove(const void* id) { ids_.erase(id); }

  // An event of the identifier was read. `where` is the call that has read it.
  void came(const void* id, rdma_cm_event_type type, int status, const std::string& peer, const void* where);

  // A verb has failed, which means the same as an event that does not come.
  void failed(const void* id, const Setback& failure, const void* where);

  // A verb on the identifier has succeeded.
  void done(const void* id, std::string_view verb);

  // What is wrong with calling this verb now.
  [[nodiscard]] std::optional<Fault> fault_of(const void* id, std::string_view verb);

  // What has failed and was not spoken of yet: of this identifier, or of all when it is null.
  std::vector<Fault> take_refusals(const void* id);

  // Whether an identifier waits for its address: then its `verbs` is null.
  [[nodiscard]] bool has_unbound() const;

private:
  struct Id {
    Step step = Step::idle;
    std::optional<Setback> failure;  // of the last event
    const void* where = nullptr;
    bool was_said = false;
    bool waits_itself = false;
  };
  std::map<const void*, Id> ids_;
};

}  // namespace verbs_check
