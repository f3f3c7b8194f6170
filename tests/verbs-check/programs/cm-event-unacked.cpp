// A cm_id is destroyed while an event of it is not acknowledged.
#include "cm.hpp"

int main() {
  Manager cm;
  cm.ask_address();
  rdma_cm_event* const event = cm.event();
  std::printf("%s\n", rdma_event_str(event->event));
#ifdef CORRECTED
  rdma_ack_cm_event(event);
#else
  std::fflush(stdout);
  alarm(2);  // ends the program: the next call never comes back
#endif
  const int result = rdma_destroy_id(cm.id);  // here: cm-event-unacked
  show("rdma_destroy_id", result);
  rdma_destroy_event_channel(cm.channel);
  return 0;
}
