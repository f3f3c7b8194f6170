#include "common/connect.hpp"

#include "common/errors.hpp"
#include "common/units.hpp"

#include <random>
#include <string>

namespace lab {

namespace {

std::string transition(const ibv_qp* qp, const char* states) {
  return "QP " + std::to_string(qp->qp_num) + " " + states;
}

}  // namespace

Path make_path(const Device& device, const Options& options) {
  const ibv_mtu mtu = mtu_from_bytes(options.mtu);
  if (mtu > device.port_attr.active_mtu) {
    throw Error("a path MTU of " + std::to_string(options.mtu) + " bytes is above the active MTU of port " +
                std::to_string(device.port) + ", " + std::to_string(mtu_bytes(device.port_attr.active_mtu)) +
                " bytes: packets would be dropped. Use -m " + std::to_string(mtu_bytes(device.port_attr.active_mtu)) +
                " or less on both sides");
  }
  return {.port = device.port,
          .mtu = mtu,
          .sl = static_cast<std::uint8_t>(options.sl),
          .source = choose_gid(device, options)};
}

Endpoint local_endpoint(const Device& device, const Path& path, const ibv_qp* qp) {
  std::random_device random;
  return {.lid = device.port_attr.lid,
          .qpn = qp->qp_num,
          .psn = random() & 0xffffffU,
          .gid = path.source ? path.source->gid : ibv_gid{}};
}

void to_init(ibv_qp* qp, const Path& path, unsigned access) {
  ibv_qp_attr attr{.qp_state = IBV_QPS_INIT, .qp_access_flags = access, .pkey_index = 0, .port_num = path.port};
  check_errno(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "ibv_modify_qp", transition(qp, "RESET to INIT"));
}

void to_rtr(ibv_qp* qp, const Path& path, const Endpoint& remote) {
  if (path.source && gid_is_zero(remote.gid)) {
    throw Error("the peer sent no GID, and on this port the GID is the address: start it with -g INDEX");
  }
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTR,
                   .path_mtu = path.mtu,
                   .rq_psn = remote.psn,
                   .dest_qp_num = remote.qpn,
                   .ah_attr = {.dlid = remote.lid, .sl = path.sl, .port_num = path.port},
                   .max_dest_rd_atomic = 1,
                   .min_rnr_timer = 12};
  if (path.source) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh = {
        .dgid = remote.gid, .sgid_index = static_cast<std::uint8_t>(path.source->gid_index), .hop_limit = 64};
  }
  check_errno(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              "ibv_modify_qp", transition(qp, "INIT to RTR"));
}

void to_rts(ibv_qp* qp, std::uint32_t local_psn, const Persistence& persistence) {
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                   .sq_psn = local_psn,
                   .max_rd_atomic = 1,
                   .timeout = persistence.timeout,
                   .retry_cnt = persistence.retry_cnt,
                   .rnr_retry = persistence.rnr_retry};
  check_errno(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                IBV_QP_MAX_QP_RD_ATOMIC),
              "ibv_modify_qp", transition(qp, "RTR to RTS"));
}

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  check_errno(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
  return attr.qp_state;
}

}  // namespace lab
