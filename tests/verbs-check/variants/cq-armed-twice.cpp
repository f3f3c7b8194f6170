// Armed twice before the first event: that makes one event, and the second wait has none to come.
// says: ibv_req_notify_cq gives at most one event, however often it was called before
#include "../programs/events.hpp"

int main() {
  Events events;
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
  events.write();
  interrupt_after(4);
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  lab::check_minus_one(ibv_get_cq_event(events.channel, &cq, &context), "ibv_get_cq_event");
  ibv_ack_cq_events(cq, 1);
  events.write();                                                      // leaves a completion, and no event
  const int result = ibv_get_cq_event(events.channel, &cq, &context);  // here: cq-not-armed
  std::printf("ibv_get_cq_event: %s\n", result == 0 ? "an event" : std::strerror(errno));
  if (result == 0) {
    ibv_ack_cq_events(cq, 1);
  }
  std::printf("%d completion(s)\n", events.poll_all());
  events.finish();
  return 0;
}
