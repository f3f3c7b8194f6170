// The client's side of rdma_cm, and what belongs to both.
#include "docs/snippets/cm-client.cpp"
#include "docs/snippets/cm-disconnect.cpp"
#include "docs/snippets/cm-event.cpp"
#include "docs/snippets/private-data.cpp"

#include "cm.hpp"
#include "testing.hpp"

#include <arpa/inet.h>

#include <future>

std::string own_address() {
  const lab::Device device = lab::open_device({});
  for (const ibv_gid_entry& entry : lab::gid_table(device.context.get(), device.port)) {
    if (entry.gid.global.subnet_prefix == 0 && entry.gid.raw[10] == 0xff) {  // an IPv4-mapped one
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, &entry.gid.raw[12], text.data(), text.size());
      return text.data();
    }
  }
  throw std::runtime_error("the device has no IPv4 address");
}

namespace {

const ibv_qp_cap cap{.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1};

struct Channel {
  rdma_event_channel* channel = lab::check(rdma_create_event_channel(), "rdma_create_event_channel");
  Channel() = default;
  ~Channel() { rdma_destroy_event_channel(channel); }
  Channel(const Channel&) = delete;
};

// A message to a server in another thread, and its answer.
void talk() {
  Server server;
  std::future<void> served = std::async(std::launch::async, [&] { server.serve(); });
  const Channel own;
  Page memory;
  lab::Owned<ibv_mr, ibv_dereg_mr> mr;
  ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(memory.bytes.data()), .length = 64};
  {
    const CmId id = connect_to(
        own.channel, own_address().c_str(), std::to_string(server.port()).c_str(), cap, [&](rdma_cm_id* prepared) {
          mr.reset(
              lab::check(ibv_reg_mr(prepared->pd, memory.bytes.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr"));
          piece.lkey = mr->lkey;
          ibv_recv_wr request{.wr_id = 1, .sg_list = &piece, .num_sge = 1};
          ibv_recv_wr* bad = nullptr;
          lab::check_errno(ibv_post_recv(prepared->qp, &request, &bad), "ibv_post_recv");
        });
    const std::string text = "through rdma_cm";
    std::memcpy(memory.bytes.data() + 64, text.data(), text.size());
    ibv_sge from{.addr = piece.addr + 64, .length = static_cast<std::uint32_t>(text.size()), .lkey = mr->lkey};
    ibv_send_wr request{
        .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(id->qp, &request, &bad), "ibv_post_send");
    lab::check_completion(lab::wait_completion(id->send_cq, std::chrono::seconds{20}, "a completion"));
    const ibv_wc answer = lab::wait_completion(id->recv_cq, std::chrono::seconds{20}, "the answer");
    lab::check_completion(answer);
    EXPECT(answer.byte_len == text.size() && std::memcmp(memory.bytes.data(), text.data(), text.size()) == 0);
    disconnect(id.get());
    EXPECT(lab::state_of(id->qp) == IBV_QPS_ERR);
    mr.reset();  // the id takes its PD along
  }
  served.get();
}

}  // namespace

SNIPPET("cm-client") {
  talk();
  const Channel own;
  EXPECT(throws("", [&] { connect_to(own.channel, "nosuch.invalid", "1", cap, [](rdma_cm_id*) {}); }));
}

SNIPPET("cm-disconnect") { talk(); }

SNIPPET("cm-event") {
  const Channel own;
  const auto start = std::chrono::steady_clock::now();
  EXPECT(throws("no RDMA_CM_EVENT_ADDR_RESOLVED came",
                [&] { expect_event(own.channel, RDMA_CM_EVENT_ADDR_RESOLVED, std::chrono::milliseconds{50}); }));
  EXPECT(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds{50});
  // Nobody listens there: the event is another one, and says so.
  std::uint16_t port = 0;
  {
    const Server gone;
    port = gone.port();
  }
  EXPECT(throws("RDMA_CM_EVENT_REJECTED instead of RDMA_CM_EVENT_ESTABLISHED, status 8", [&] {
    connect_to(own.channel, own_address().c_str(), std::to_string(port).c_str(), cap, [](rdma_cm_id*) {});
  }));
}

SNIPPET("private-data") {
  rdma_conn_param param{};
  const std::array<std::byte, 57> bytes{std::byte{'h'}, std::byte{'i'}, std::byte{'!'}};
  EXPECT(throws("56", [&] { set_private_data(param, bytes); }));
  set_private_data(param, std::span{bytes}.first(3));
  // A request with it, by hand. The server says no, which ends it.
  const Channel server_channel;
  const Channel client_channel;
  rdma_cm_id* listener = nullptr;
  rdma_cm_id* client = nullptr;
  const auto done = [](int result, const char* verb) { lab::check_minus_one(result, verb); };
  sockaddr_in address{.sin_family = AF_INET};
  inet_pton(AF_INET, own_address().c_str(), &address.sin_addr);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  done(rdma_create_id(server_channel.channel, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
  done(rdma_bind_addr(listener, any), "rdma_bind_addr");
  done(rdma_listen(listener, 1), "rdma_listen");
  address.sin_port = rdma_get_src_port(listener);
  done(rdma_create_id(client_channel.channel, &client, nullptr, RDMA_PS_TCP), "rdma_create_id");
  done(rdma_resolve_addr(client, nullptr, any, 2000), "rdma_resolve_addr");
  expect_event(client_channel.channel, RDMA_CM_EVENT_ADDR_RESOLVED, patience);
  done(rdma_resolve_route(client, 2000), "rdma_resolve_route");
  expect_event(client_channel.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, patience);
  ibv_qp_init_attr attr{.cap = cap, .qp_type = IBV_QPT_RC};
  done(rdma_create_qp(client, nullptr, &attr), "rdma_create_qp");
  done(rdma_connect(client, &param), "rdma_connect");
  rdma_cm_event* event = nullptr;
  done(rdma_get_cm_event(server_channel.channel, &event), "rdma_get_cm_event");
  const rdma_cm_event_type type = event->event;
  const std::vector<std::byte> came = private_data_of(*event);
  rdma_cm_id* const request = event->id;
  rdma_ack_cm_event(event);
  done(rdma_reject(request, nullptr, 0), "rdma_reject");
  const bool rejected = throws("RDMA_CM_EVENT_REJECTED",
                               [&] { expect_event(client_channel.channel, RDMA_CM_EVENT_ESTABLISHED, patience); });
  rdma_destroy_qp(client);
  done(rdma_destroy_id(client), "rdma_destroy_id");
  done(rdma_destroy_id(request), "rdma_destroy_id");
  done(rdma_destroy_id(listener), "rdma_destroy_id");
  EXPECT(type == RDMA_CM_EVENT_CONNECT_REQUEST && rejected);
  EXPECT(came.size() == most_private_data && std::equal(came.begin(), came.begin() + 3, bytes.begin()));
  EXPECT(std::all_of(came.begin() + 3, came.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}
