// How do I learn of what happens outside of my requests?

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <system_error>

// Once after ibv_open_device: reading does not wait then.
void do_not_wait_for_events(const ibv_context* context) {
  const int flags = fcntl(context->async_fd, F_GETFL);
  if (flags == -1 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) == -1) {
    throw std::system_error(errno, std::generic_category(), "fcntl");
  }
}

// Hands out the events that are there. event.element has the object: a CQ, QP or SRQ, or the number of the port.
int read_events(ibv_context* context, const std::function<void(const ibv_async_event&)>& handle) {
  ibv_async_event event{};
  int count = 0;
  while (ibv_get_async_event(context, &event) == 0) {
    // Acknowledged on each way out: the destroy verb of the object waits for it.
    const std::unique_ptr<ibv_async_event, decltype(&ibv_ack_async_event)> acknowledge{&event, &ibv_ack_async_event};
    handle(event);  // for the log: ibv_event_type_str(event.event_type)
    ++count;
  }
  if (errno != EAGAIN) {
    throw std::system_error(errno, std::generic_category(), "ibv_get_async_event");
  }
  return count;
}
