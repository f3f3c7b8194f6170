// How do I connect with rdma_cm?

#include <netdb.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <system_error>

// Of cm-event.cpp.
rdma_cm_id* expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, std::chrono::milliseconds patience);

struct CloseId {
  void operator()(rdma_cm_id* id) const {
    if (id->qp != nullptr) {
      rdma_destroy_qp(id);
    }
    rdma_destroy_id(id);
  }
};
using CmId = std::unique_ptr<rdma_cm_id, CloseId>;

// Connects a QP of the depths in `cap`. `prepare` is called before the peer can send: post the first receives there.
CmId connect_to(rdma_event_channel* channel, const char* host, const char* port, const ibv_qp_cap& cap,
                const std::function<void(rdma_cm_id*)>& prepare) {
  using std::chrono::milliseconds;
  const auto done = [](int result, const char* verb) {
    if (result != 0) {
      throw std::system_error(errno, std::generic_category(), verb);
    }
  };
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host, port, nullptr, &found); error != 0) {  // codes of its own
    throw std::runtime_error(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses{found, &freeaddrinfo};
  rdma_cm_id* created = nullptr;
  done(rdma_create_id(channel, &created, nullptr, RDMA_PS_TCP), "rdma_create_id");
  CmId id{created};
  done(rdma_resolve_addr(id.get(), nullptr, addresses->ai_addr, 2000), "rdma_resolve_addr");  // 2000 ms
  expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, milliseconds{3000});
  done(rdma_resolve_route(id.get(), 2000), "rdma_resolve_route");
  expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, milliseconds{3000});
  ibv_qp_init_attr attr{};
  attr.cap = cap;
  attr.qp_type = IBV_QPT_RC;
  done(rdma_create_qp(id.get(), nullptr, &attr), "rdma_create_qp");  // makes id->pd, id->send_cq and id->recv_cq
  prepare(id.get());
  rdma_conn_param param{};
  param.retry_count = 6;
  param.rnr_retry_count = 6;  // for the sends of the peer
  param.initiator_depth = 1;  // RDMA reads and atomics at a time, in each direction
  param.responder_resources = 1;
  done(rdma_connect(id.get(), &param), "rdma_connect");
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, milliseconds{10000});
  return id;
}
