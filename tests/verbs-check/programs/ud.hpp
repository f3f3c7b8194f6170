// What the programs about datagrams begin with: a UD QP in RTS that sends to itself, and memory for longer messages.
#pragma once

#include "loop.hpp"

struct Ud : Loop {
  std::array<char, 8192> buffer{};  // half to send from, half to receive into
  Mr buffer_mr{lab::check(ibv_reg_mr(pd.get(), buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  lab::Owned<ibv_qp, ibv_destroy_qp> own;  // destroyed before the memory region
  static constexpr std::uint32_t qkey = 0x11111111;
  lab::Owned<ibv_ah, ibv_destroy_ah> ah;

  Ud() {
    ibv_qp_init_attr init{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_UD};
    own.reset(lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp"));
    qp = own.get();
    ibv_qp_attr attr{.qp_state = IBV_QPS_INIT, .qkey = qkey, .port_num = path.port};
    modify(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr.qp_state = IBV_QPS_RTR;
    modify(attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    modify(attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    ibv_ah_attr to{.dlid = device.port_attr.lid, .port_num = path.port};
    if (path.source) {
      to.is_global = 1;
      to.grh = {
          .dgid = path.source->gid, .sgid_index = static_cast<std::uint8_t>(path.source->gid_index), .hop_limit = 64};
    }
    ah.reset(lab::check(ibv_create_ah(pd.get(), &to), "ibv_create_ah"));
  }

  // A request that sends these bytes.
  [[nodiscard]] ibv_send_wr datagram(ibv_sge* from) const {
    return {.wr_id = 2,
            .sg_list = from,
            .num_sge = 1,
            .opcode = IBV_WR_SEND,
            .send_flags = IBV_SEND_SIGNALED,
            .wr = {.ud = {.ah = ah.get(), .remote_qpn = qp->qp_num, .remote_qkey = qkey}}};
  }

  // So many bytes to send.
  [[nodiscard]] ibv_sge message(std::uint32_t length) const { return {address(), length, buffer_mr->lkey}; }

  // So many bytes to receive into.
  [[nodiscard]] ibv_sge room(std::uint32_t length) const {
    return {address() + buffer.size() / 2, length, buffer_mr->lkey};
  }

private:
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(buffer.data()); }
  void modify(ibv_qp_attr& attr, int mask) { lab::check_errno(ibv_modify_qp(qp, &attr, mask), "ibv_modify_qp"); }
};
