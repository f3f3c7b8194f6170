// A connection is rejected, and on this way out the event is not acknowledged.
// says: RDMA_CM_EVENT_REJECTED
#include "../programs/cm.hpp"

int main() {
  Manager cm;
  cm.resolve();
  Manager::make_qp(cm.id);
  rdma_conn_param param{};
  lab::check_minus_one(rdma_connect(cm.id, &param), "rdma_connect");
  rdma_cm_event* event = nullptr;
  show("rdma_get_cm_event", rdma_get_cm_event(cm.channel, &event));  // here: cm-refused
  std::printf("%s\n", rdma_event_str(event->event));
  std::fflush(stdout);
  rdma_destroy_qp(cm.id);
  alarm(2);                                   // ends the program: the next call never comes back
  const int result = rdma_destroy_id(cm.id);  // here: cm-event-unacked
  show("rdma_destroy_id", result);
  return 0;
}
