// Nobody listens on the port that a client connects to.
#include "cm.hpp"

int main() {
  Manager cm;
#ifdef CORRECTED
  cm.listen();
#endif
  cm.resolve();
  Manager::make_qp(cm.id);
  rdma_conn_param param{};
  show("rdma_connect", rdma_connect(cm.id, &param));
#ifdef CORRECTED
  cm.accept();
#else
  rdma_cm_event* event = nullptr;
  show("rdma_get_cm_event", rdma_get_cm_event(cm.channel, &event));  // here: cm-refused
  std::printf("%s\n", rdma_event_str(event->event));
  rdma_ack_cm_event(event);
#endif
  cm.finish();
  return 0;
}
