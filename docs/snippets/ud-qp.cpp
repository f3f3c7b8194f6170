// How do I make a UD QP ready?

#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// RESET to RTS. No peer is named: each send names its own. Datagrams with another Q_Key are dropped.
void ready_ud_qp(ibv_qp* qp, std::uint8_t port, std::uint32_t qkey) {
  const auto modify = [qp](ibv_qp_attr attr, int mask) {
    if (const int error = ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE); error != 0) {
      throw std::system_error(error, std::generic_category(), "ibv_modify_qp");
    }
  };
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = port;
  attr.qkey = qkey;
  modify(attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  attr.qp_state = IBV_QPS_RTR;
  modify(attr, 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = 0;
  modify(attr, IBV_QP_SQ_PSN);
}
