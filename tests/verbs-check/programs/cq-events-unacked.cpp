// An event is taken from the channel and not acknowledged before its CQ is destroyed.
#include "events.hpp"

int main() {
  Events events;
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
  events.write();
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  lab::check_minus_one(ibv_get_cq_event(events.channel, &cq, &context), "ibv_get_cq_event");
  std::printf("%d completion(s)\n", events.poll_all());
#ifdef CORRECTED
  ibv_ack_cq_events(cq, 1);
#else
  std::fflush(stdout);
  alarm(2);  // ends the program: the next but one call never comes back
#endif
  ibv_destroy_qp(events.qp);
  const int result = ibv_destroy_cq(cq);  // here: cq-events-unacked
  std::printf("ibv_destroy_cq: %s\n", result == 0 ? "done" : std::strerror(result));
  ibv_destroy_comp_channel(events.channel);
  return 0;
}
