// What the programs about a queue pair's states begin with: a QP in RESET, connected to nobody, and the attributes of
// each step as they should be. The QP is its own peer.
#pragma once

#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <cstdio>
#include <cstring>

struct Fixture {
  lab::Device device = lab::open_device({});
  lab::Path path = lab::make_path(device, {});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 4, nullptr, nullptr, 0), "ibv_create_cq")};
  lab::Owned<ibv_qp, ibv_destroy_qp> owner{make_qp()};
  ibv_qp* qp = owner.get();

  ibv_qp* make_qp() const {
    ibv_qp_init_attr attr{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp");
  }

  // INIT to RTR.
  int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  [[nodiscard]] ibv_qp_attr rtr() const {
    ibv_qp_attr attr{.qp_state = IBV_QPS_RTR,
                     .path_mtu = path.mtu,
                     .rq_psn = 0x000100,
                     .dest_qp_num = qp->qp_num,
                     .ah_attr = {.dlid = device.port_attr.lid, .port_num = path.port},
                     .max_dest_rd_atomic = 1,
                     .min_rnr_timer = 12};
    if (path.source) {
      attr.ah_attr.is_global = 1;
      attr.ah_attr.grh = {
          .dgid = path.source->gid, .sgid_index = static_cast<std::uint8_t>(path.source->gid_index), .hop_limit = 64};
    }
    return attr;
  }
};

// Prints what ibv_modify_qp has answered; the exit status of the program.
inline int outcome(int result) {
  std::printf("ibv_modify_qp: %s\n", result == 0 ? "done" : std::strerror(result));
  return result == 0 ? 0 : 1;
}
