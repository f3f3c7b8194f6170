// What the programs about rdma_cm begin with: a channel, a cm_id that can connect to the own host, and what is needed
// to answer itself. One thread does it all.
#pragma once

#include "common/device.hpp"
#include "common/errors.hpp"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

// The first IPv4 address of the first RDMA device.
inline sockaddr_in own_address(std::uint16_t port) {
  const lab::Device device = lab::open_device({});
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
  for (const ibv_gid_entry& entry : lab::gid_table(device.context.get(), device.port)) {
    if (entry.gid.global.subnet_prefix == 0 && entry.gid.raw[10] == 0xff) {  // an IPv4-mapped one
      std::memcpy(&address.sin_addr, &entry.gid.raw[12], sizeof address.sin_addr);
    }
  }
  return address;
}

struct Manager {
  static constexpr std::uint16_t port = 18999;

  sockaddr_in address = own_address(port);
  rdma_event_channel* channel = lab::check(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = make_id();
  rdma_cm_id* listener = nullptr;
  rdma_cm_id* accepted = nullptr;

  [[nodiscard]] rdma_cm_id* make_id() const {
    rdma_cm_id* made = nullptr;
    lab::check_minus_one(rdma_create_id(channel, &made, nullptr, RDMA_PS_TCP), "rdma_create_id");
    return made;
  }

  // Asks for the address; the event is still to be read.
  void ask_address() {
    lab::check_minus_one(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), 2000),
                         "rdma_resolve_addr");
  }

  // The next event.
  [[nodiscard]] rdma_cm_event* event() const {
    rdma_cm_event* got = nullptr;
    lab::check_minus_one(rdma_get_cm_event(channel, &got), "rdma_get_cm_event");
    return got;
  }

  // Reads the next event, prints it, and acknowledges it.
  rdma_cm_event_type next() const {
    rdma_cm_event* const got = event();
    const rdma_cm_event_type type = got->event;
    std::printf("%s\n", rdma_event_str(type));
    rdma_ack_cm_event(got);
    return type;
  }

  void resolve() {
    ask_address();
    next();
    lab::check_minus_one(rdma_resolve_route(id, 2000), "rdma_resolve_route");
    next();
  }

  static void make_qp(rdma_cm_id* of) {
    ibv_qp_init_attr attr{.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    lab::check_minus_one(rdma_create_qp(of, nullptr, &attr), "rdma_create_qp");
  }

  void listen() {
    listener = make_id();
    lab::check_minus_one(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&address)), "rdma_bind_addr");
    lab::check_minus_one(rdma_listen(listener, 1), "rdma_listen");
  }

  // Takes the request that comes to the listener, and waits until both sides are connected.
  void accept() {
    rdma_cm_event* const request = event();
    accepted = request->id;
    rdma_ack_cm_event(request);
    make_qp(accepted);
    rdma_conn_param param{};
    lab::check_minus_one(rdma_accept(accepted, &param), "rdma_accept");
    next();
    next();
  }

  static void destroy(rdma_cm_id* gone) {
    if (gone != nullptr) {
      if (gone->qp != nullptr) {
        rdma_destroy_qp(gone);
      }
      lab::check_minus_one(rdma_destroy_id(gone), "rdma_destroy_id");
    }
  }

  void finish() const {
    destroy(accepted);
    destroy(id);
    destroy(listener);
    rdma_destroy_event_channel(channel);
  }
};

// Prints what a function of rdma_cm has answered.
inline void show(const char* verb, int result) {
  std::printf("%s: %s\n", verb, result == 0 ? "done" : std::strerror(errno));
}
