// The CQ was never armed: no completion of it gives an event.
#include "events.hpp"

int main() {
  Events events;
#ifdef CORRECTED
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
#endif
  events.write();
  interrupt_after(2);
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  const int result = ibv_get_cq_event(events.channel, &cq, &context);  // here: cq-not-armed
  std::printf("ibv_get_cq_event: %s\n", result == 0 ? "an event" : std::strerror(errno));
  if (result == 0) {
    ibv_ack_cq_events(cq, 1);
  }
  std::printf("%d completion(s)\n", events.poll_all());
  events.finish();
  return 0;
}
