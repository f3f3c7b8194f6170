// What the programs about asynchronous events begin with: a shared receive queue with a limit, which is reached when
// the second of two receives is used.
#pragma once

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

struct Srq {
  lab::Device device = lab::open_device({});
  lab::Path path = lab::make_path(device, {});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  std::array<char, 16> memory{};
  lab::Owned<ibv_mr, ibv_dereg_mr> mr{
      lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 16, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_srq* srq = make_srq();

  [[nodiscard]] ibv_context* context() const { return device.context.get(); }

  [[nodiscard]] ibv_srq* make_srq() const {
    ibv_srq_init_attr attr{.attr = {.max_wr = 4, .max_sge = 1}};
    return lab::check(ibv_create_srq(pd.get(), &attr), "ibv_create_srq");
  }

  // Two receives, a limit of two, and one message from a QP to itself, which is gone afterwards.
  void reach_limit() const {
    ibv_qp_init_attr attr{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .srq = srq,
                          .cap = {.max_send_wr = 4, .max_send_sge = 1},
                          .qp_type = IBV_QPT_RC};
    const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp")};
    const lab::Endpoint self = lab::local_endpoint(device, path, qp.get());
    lab::to_init(qp.get(), path, 0);
    lab::to_rtr(qp.get(), path, self);
    lab::to_rts(qp.get(), self.psn);
    ibv_sge range{.addr = reinterpret_cast<std::uintptr_t>(memory.data()), .length = 8, .lkey = mr->lkey};
    ibv_recv_wr receive{.sg_list = &range, .num_sge = 1};
    ibv_recv_wr* bad_receive = nullptr;
    lab::check_errno(ibv_post_srq_recv(srq, &receive, &bad_receive), "ibv_post_srq_recv");
    lab::check_errno(ibv_post_srq_recv(srq, &receive, &bad_receive), "ibv_post_srq_recv");
    ibv_srq_attr limit{.srq_limit = 2};
    lab::check_errno(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
    ibv_sge from{.addr = range.addr + 8, .length = 8, .lkey = mr->lkey};
    ibv_send_wr send{.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad_send = nullptr;
    lab::check_errno(ibv_post_send(qp.get(), &send, &bad_send), "ibv_post_send");
    for (int i = 0; i < 2; ++i) {
      const ibv_wc completion = lab::wait_completion(cq.get(), std::chrono::seconds{5}, "a completion");
      std::printf("completion: %s\n", lab::status_text(completion.status).c_str());
    }
  }
};
