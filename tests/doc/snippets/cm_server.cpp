// The server's side of rdma_cm.
#include "docs/snippets/cm-server.cpp"

#include "cm.hpp"
#include "testing.hpp"

struct Server::Parts {
  rdma_event_channel* channel = lab::check(rdma_create_event_channel(), "rdma_create_event_channel");
  Connection listener = listen_on(channel, 0);
};

Server::Server() : parts_{new Parts} {}
Server::~Server() {
  parts_->listener.reset();
  rdma_destroy_event_channel(parts_->channel);
  delete parts_;
}
std::uint16_t Server::port() const { return ntohs(rdma_get_src_port(parts_->listener.get())); }

void Server::serve() {
  Page memory;
  lab::Owned<ibv_mr, ibv_dereg_mr> mr;
  const ibv_qp_cap cap{.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1};
  const Connection client = accept_client(parts_->channel, cap, patience, [&](rdma_cm_id* id) {
    mr.reset(lab::check(ibv_reg_mr(id->pd, memory.bytes.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr"));
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(memory.bytes.data()), .length = 64, .lkey = mr->lkey};
    ibv_recv_wr request{.wr_id = 1, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(id->qp, &request, &bad), "ibv_post_recv");
  });
  const auto wait = [](ibv_cq* cq) { return lab::wait_completion(cq, std::chrono::seconds{20}, "a completion"); };
  const ibv_wc message = wait(client->recv_cq);
  lab::check_completion(message);
  // The same message goes back.
  ibv_sge piece{
      .addr = reinterpret_cast<std::uintptr_t>(memory.bytes.data()), .length = message.byte_len, .lkey = mr->lkey};
  ibv_send_wr answer{
      .wr_id = 2, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(client->qp, &answer, &bad), "ibv_post_send");
  lab::check_completion(wait(client->send_cq));
  disconnect(client.get());
  mr.reset();  // the id takes its PD along
}

SNIPPET("cm-server") {
  // The rest is in the test of the client: this one looks at what a listener says.
  const Server one;
  const Server two;
  EXPECT(one.port() != 0 && one.port() != two.port());
}
