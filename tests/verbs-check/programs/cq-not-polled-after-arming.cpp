// Two completions for one event: one is polled, the CQ is armed again, and the program waits for the next event.
#include "events.hpp"

namespace {

// Arms, makes two completions, waits for the event, and gives the second completion time to be there too.
void two_for_one(const Events& events) {
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
  events.write();
  events.write();
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  lab::check_minus_one(ibv_get_cq_event(events.channel, &cq, &context), "ibv_get_cq_event");
  ibv_ack_cq_events(cq, 1);
  sleep(1);
}

}  // namespace

int main() {
  Events events;
  two_for_one(events);
  ibv_wc completion{};
  int count = ibv_poll_cq(events.cq, 1, &completion);
  lab::check_errno(ibv_req_notify_cq(events.cq, 0), "ibv_req_notify_cq");
#ifdef CORRECTED
  count += events.poll_all();
#endif
  if (count < 2) {
    interrupt_after(8);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    const int result = ibv_get_cq_event(events.channel, &cq, &context);  // here: cq-not-polled-after-arming
    std::printf("ibv_get_cq_event: %s\n", result == 0 ? "an event" : std::strerror(errno));
    count += events.poll_all();
  }
  std::printf("%d completion(s)\n", count);
  events.finish();
  return 0;
}
