// What the programs about events begin with: a QP that is connected to itself, and whose completions come to a CQ with
// a channel. Nothing is destroyed by itself: finish() does it.
#pragma once

#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

struct Events {
  lab::Device device = lab::open_device({});
  lab::Path path = lab::make_path(device, {});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  std::array<char, 16> memory{};
  lab::Owned<ibv_mr, ibv_dereg_mr> mr{
      lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                 "ibv_reg_mr")};
  ibv_comp_channel* channel = lab::check(ibv_create_comp_channel(device.context.get()), "ibv_create_comp_channel");
  ibv_cq* cq = lab::check(ibv_create_cq(device.context.get(), 16, nullptr, channel, 0), "ibv_create_cq");
  ibv_qp* qp = make_qp();

  Events() {
    const lab::Endpoint self = lab::local_endpoint(device, path, qp);
    lab::to_init(qp, path, IBV_ACCESS_REMOTE_WRITE);
    lab::to_rtr(qp, path, self);
    lab::to_rts(qp, self.psn);
  }

  [[nodiscard]] ibv_qp* make_qp() const {
    ibv_qp_init_attr attr{.send_cq = cq,
                          .recv_cq = cq,
                          .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp");
  }

  // An RDMA write, which leaves one completion.
  void write() const {
    ibv_sge from{.addr = reinterpret_cast<std::uintptr_t>(memory.data()), .length = 8, .lkey = mr->lkey};
    ibv_send_wr request{.sg_list = &from,
                        .num_sge = 1,
                        .opcode = IBV_WR_RDMA_WRITE,
                        .send_flags = IBV_SEND_SIGNALED,
                        .wr = {.rdma = {.remote_addr = from.addr + 8, .rkey = mr->rkey}}};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(qp, &request, &bad), "ibv_post_send");
  }

  // Polls until the CQ is empty; returns how many completions there were.
  [[nodiscard]] int poll_all() const {
    int count = 0;
    for (ibv_wc completion{}; ibv_poll_cq(cq, 1, &completion) > 0; ++count) {
      if (completion.status != IBV_WC_SUCCESS) {
        std::printf("completion: %s\n", lab::status_text(completion.status).c_str());
      }
    }
    return count;
  }

  void finish() const {
    lab::check_errno(ibv_destroy_qp(qp), "ibv_destroy_qp");
    lab::check_errno(ibv_destroy_cq(cq), "ibv_destroy_cq");
    lab::check_errno(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
  }
};

// Ends what waits for ever: after so many seconds the wait fails with EINTR.
inline void interrupt_after(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  alarm(seconds);
}
