// How do I wait for an event of rdma_cm?

#include <poll.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>

// Waits for the next event, which must be `wanted`; returns the id that it is about. For a connection request that is a
// new one.
rdma_cm_id* expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, std::chrono::milliseconds patience) {
  pollfd entry{.fd = channel->fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {  // a signal begins the wait anew
    ready = poll(&entry, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) {
    throw std::system_error(errno, std::generic_category(), "poll");
  }
  if (ready == 0) {
    throw std::runtime_error(std::string{"no "} + rdma_event_str(wanted) + " came");
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_get_cm_event");
  }
  rdma_cm_id* const id = event->id;
  const rdma_cm_event_type type = event->event;
  const int status = event->status;
  rdma_ack_cm_event(event);  // on every way out: rdma_destroy_id waits for it. The event is gone after this
  if (type != wanted) {
    throw std::runtime_error(std::string{rdma_event_str(type)} + " instead of " + rdma_event_str(wanted) + ", status " +
                             std::to_string(status));
  }
  return id;
}
