// The event that a limit was reached is read and not acknowledged before its shared receive queue is destroyed.
#include "srq.hpp"

int main() {
  Srq queue;
  queue.reach_limit();
  ibv_async_event event{};
  lab::check_minus_one(ibv_get_async_event(queue.context(), &event), "ibv_get_async_event");
  std::printf("event: %s\n", ibv_event_type_str(event.event_type));
#ifdef CORRECTED
  ibv_ack_async_event(&event);
#else
  std::fflush(stdout);
  alarm(2);  // ends the program: the next call never comes back
#endif
  const int result = ibv_destroy_srq(queue.srq);  // here: async-event-unacked
  std::printf("ibv_destroy_srq: %s\n", result == 0 ? "done" : std::strerror(result));
  return 0;
}
