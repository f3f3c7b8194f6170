// A limit is set on a shared receive queue, and nobody reads the event that says it was reached.
#include "srq.hpp"

int main() {
  Srq queue;
  queue.reach_limit();
#ifdef CORRECTED
  ibv_async_event event{};
  lab::check_minus_one(ibv_get_async_event(queue.context(), &event), "ibv_get_async_event");
  std::printf("event: %s\n", ibv_event_type_str(event.event_type));
  ibv_ack_async_event(&event);
#endif
  const int result = ibv_destroy_srq(queue.srq);  // here: async-events-unread
  std::printf("ibv_destroy_srq: %s\n", result == 0 ? "done" : std::strerror(result));
  return 0;
}
