// How do I bring an RC QP from RESET to RTS, on RoCE and on InfiniBand?

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <system_error>

// What ibv_modify_qp wants: the attributes, and the mask that says which of them count.
struct Transition {
  ibv_qp_attr attr{};
  int mask = 0;
};

// What the peer has told.
struct Peer {
  std::uint16_t lid = 0;  // of its port: 0 on RoCE
  std::uint32_t qpn = 0;  // its QP
  std::uint32_t psn = 0;  // where its packets begin, 24 bits
  ibv_gid gid{};
};

// `access`: what the peer may do with memory through this QP, for instance IBV_ACCESS_REMOTE_WRITE.
Transition to_init(std::uint8_t port, unsigned access) {
  Transition step;
  step.attr.qp_state = IBV_QPS_INIT;
  step.attr.pkey_index = 0;
  step.attr.port_num = port;
  step.attr.qp_access_flags = access;
  step.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return step;
}

// `gid_index`: the local GID to send from. Always on RoCE; on InfiniBand only where the path has a router.
Transition to_rtr(std::uint8_t port, ibv_mtu mtu, const Peer& peer, std::optional<std::uint8_t> gid_index) {
  Transition step;
  step.attr.qp_state = IBV_QPS_RTR;
  step.attr.path_mtu = mtu;
  step.attr.dest_qp_num = peer.qpn;
  step.attr.rq_psn = peer.psn;
  step.attr.max_dest_rd_atomic = 1;  // RDMA reads and atomics of the peer that are served at a time
  step.attr.min_rnr_timer = 12;      // 0.64 ms: the pause when no receive is posted here
  step.attr.ah_attr.dlid = peer.lid;
  step.attr.ah_attr.port_num = port;
  if (gid_index) {
    step.attr.ah_attr.is_global = 1;
    step.attr.ah_attr.grh.dgid = peer.gid;
    step.attr.ah_attr.grh.sgid_index = *gid_index;
    step.attr.ah_attr.grh.hop_limit = 64;
  }
  step.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
              IBV_QP_MIN_RNR_TIMER;
  return step;
}

// `psn`: what the peer was told as this side's PSN.
Transition to_rts(std::uint32_t psn) {
  Transition step;
  step.attr.qp_state = IBV_QPS_RTS;
  step.attr.sq_psn = psn;
  step.attr.timeout = 14;       // 67 ms (4.096 us x 2^14) until a packet without an answer is sent again
  step.attr.retry_cnt = 6;      // times
  step.attr.rnr_retry = 6;      // times, when the peer has no receive posted; 7: without end
  step.attr.max_rd_atomic = 1;  // RDMA reads and atomics of this side at a time
  step.mask =
      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return step;
}

void apply(ibv_qp* qp, Transition step) {
  if (const int error = ibv_modify_qp(qp, &step.attr, step.mask); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_modify_qp");
  }
}
