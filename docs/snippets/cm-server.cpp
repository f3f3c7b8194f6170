// How do I accept a connection with rdma_cm?

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <system_error>

// Of cm-event.cpp.
rdma_cm_id* expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, std::chrono::milliseconds patience);

struct CloseConnection {
  void operator()(rdma_cm_id* id) const {
    if (id->qp != nullptr) {
      rdma_destroy_qp(id);
    }
    rdma_destroy_id(id);
  }
};
using Connection = std::unique_ptr<rdma_cm_id, CloseConnection>;

// Listens on all interfaces with an RDMA device. Port 0: the kernel chooses, and ntohs(rdma_get_src_port(id)) says
// which.
Connection listen_on(rdma_event_channel* channel, std::uint16_t port) {
  rdma_cm_id* created = nullptr;
  if (rdma_create_id(channel, &created, nullptr, RDMA_PS_TCP) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_create_id");
  }
  Connection listener{created};
  sockaddr_in any{.sin_family = AF_INET, .sin_port = htons(port)};
  if (rdma_bind_addr(listener.get(), reinterpret_cast<sockaddr*>(&any)) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_bind_addr");
  }
  if (rdma_listen(listener.get(), 8) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_listen");
  }
  return listener;
}

// The next client, connected. `prepare` is called before it can send: post the first receives there.
Connection accept_client(rdma_event_channel* channel, const ibv_qp_cap& cap, std::chrono::milliseconds patience,
                         const std::function<void(rdma_cm_id*)>& prepare) {
  Connection id{expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, patience)};
  ibv_qp_init_attr attr{};
  attr.cap = cap;
  attr.qp_type = IBV_QPT_RC;
  if (rdma_create_qp(id.get(), nullptr, &attr) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_create_qp");
  }
  prepare(id.get());
  rdma_conn_param param{};
  param.rnr_retry_count = 6;  // for the sends of the client
  param.initiator_depth = 1;  // no more than the client has offered
  param.responder_resources = 1;
  if (rdma_accept(id.get(), &param) != 0) {
    throw std::system_error(errno, std::generic_category(), "rdma_accept");
  }
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, patience);
  return id;
}
