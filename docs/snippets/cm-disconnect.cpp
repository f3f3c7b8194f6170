// How do I end a connection of rdma_cm?

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <chrono>
#include <system_error>

// Of cm-event.cpp.
rdma_cm_id* expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, std::chrono::milliseconds patience);

// Both sides may call it, in any order, each when its last send has completed. Takes the QP to ERR: receives that are
// still posted are flushed.
void disconnect(rdma_cm_id* id) {
  if (rdma_disconnect(id) != 0 && errno != EINVAL) {  // EINVAL: the peer was first, and it is over
    throw std::system_error(errno, std::generic_category(), "rdma_disconnect");
  }
  expect_event(id->channel, RDMA_CM_EVENT_DISCONNECTED, std::chrono::milliseconds{10000});
}
