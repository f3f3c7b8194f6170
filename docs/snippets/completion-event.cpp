// How do I sleep until a completion comes, and miss none?

#include <infiniband/verbs.h>

#include <cerrno>
#include <functional>
#include <stdexcept>
#include <system_error>

// Asks for an event, then hands out what was there already: that gives no event. Once before the first wait.
void arm_and_drain(ibv_cq* cq, const std::function<void(const ibv_wc&)>& handle) {
  if (const int error = ibv_req_notify_cq(cq, 0); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_req_notify_cq");
  }
  ibv_wc completion{};
  int count = 0;
  while ((count = ibv_poll_cq(cq, 1, &completion)) > 0) {
    handle(completion);
  }
  if (count < 0) {
    throw std::runtime_error("ibv_poll_cq failed: the completion queue is broken");
  }
}

// Sleeps until an event comes; then the same again. May hand out nothing: what the event announced may have been
// polled before it was read.
void wait_and_drain(ibv_comp_channel* channel, const std::function<void(const ibv_wc&)>& handle) {
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;  // what ibv_create_cq was given
  if (ibv_get_cq_event(channel, &cq, &cq_context) != 0) {
    throw std::system_error(errno, std::generic_category(), "ibv_get_cq_event");
  }
  ibv_ack_cq_events(cq, 1);  // ibv_destroy_cq waits for this
  arm_and_drain(cq, handle);
}
