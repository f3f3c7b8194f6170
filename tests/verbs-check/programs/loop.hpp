// What the programs about requests begin with: a QP that is connected to itself, and memory to send from (the first
// half) and to receive into (the second), registered in the PD of the QP.
#pragma once

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

struct Loop {
  using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;

  lab::Device device = lab::open_device({});
  lab::Path path = lab::make_path(device, {});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 16, nullptr, nullptr, 0), "ibv_create_cq")};
  std::array<char, 128> memory{};
  std::uint32_t half = 64;
  Mr mr{lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                   "ibv_reg_mr")};
  lab::Owned<ibv_qp, ibv_destroy_qp> owner{make_qp()};
  ibv_qp* qp = owner.get();

  ibv_qp* make_qp() const {
    ibv_qp_init_attr attr{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp");
  }

  // Takes this QP in place of its own.
  void use(ibv_qp* other) {
    owner.reset(other);
    qp = other;
  }

  // RESET to RTS.
  void connect() {
    const lab::Endpoint self = lab::local_endpoint(device, path, qp);
    lab::to_init(qp, path, IBV_ACCESS_REMOTE_WRITE);
    lab::to_rtr(qp, path, self);
    lab::to_rts(qp, self.psn);
  }

  // The same with other rights for the peer and another patience.
  void connect(unsigned access, const lab::Persistence& persistence = {}) {
    lab::to_rts(qp, to_rtr(access).psn, persistence);
  }

  // RESET to RTR; returns what RTS needs.
  [[nodiscard]] lab::Endpoint to_rtr(unsigned access) const {
    const lab::Endpoint self = lab::local_endpoint(device, path, qp);
    lab::to_init(qp, path, access);
    lab::to_rtr(qp, path, self);
    return self;
  }

  [[nodiscard]] std::uint64_t outgoing() const { return reinterpret_cast<std::uintptr_t>(memory.data()); }
  [[nodiscard]] std::uint64_t incoming() const { return outgoing() + half; }

  // A receive with nothing wrong.
  void post_receive() {
    ibv_sge where{.addr = incoming(), .length = half, .lkey = mr->lkey};
    ibv_recv_wr request{.wr_id = 1, .sg_list = &where, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(qp, &request, &bad), "ibv_post_recv");
  }

  // Waits for the next completion, and prints how it ended.
  void show_completion() {
    const ibv_wc completion = lab::wait_completion(cq.get(), std::chrono::seconds{5}, "a completion");
    std::printf("completion: %s\n", lab::status_text(completion.status).c_str());
  }

  // The same, where a wrong program may wait for what never comes.
  void show_completion_or_none() {
#ifdef CORRECTED
    constexpr std::chrono::milliseconds patience{5000};
#else
    constexpr std::chrono::milliseconds patience{300};
#endif
    const auto end = std::chrono::steady_clock::now() + patience;
    ibv_wc completion{};
    int found = 0;
    while (found == 0 && std::chrono::steady_clock::now() < end) {
      found = ibv_poll_cq(cq.get(), 1, &completion);
    }
    std::printf("completion: %s\n", found == 0 ? "none" : lab::status_text(completion.status).c_str());
  }

  // Two of them: a message and its receive.
  void show_completions() {
    show_completion();
    show_completion();
  }
};

// Prints what a post has answered.
inline void show(const char* verb, int result) {
  std::printf("%s: %s\n", verb, result == 0 ? "done" : std::strerror(result));
}
