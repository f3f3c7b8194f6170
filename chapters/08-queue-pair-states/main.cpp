// 08-queue-pair-states: what does a QP need before it can send?
//
// Verbs:   ibv_modify_qp, ibv_query_qp
// Run:     ./lab run 08
// Expect:  one QP taken from RESET through INIT and RTR to RTS, every attribute read back with its meaning; between the
//          steps the usual mistakes, each with the answer of the verb; at the end ERR, and back to RESET.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <optional>

namespace {

struct QpAttributes {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
};

// What the device says, not what we believe that we have set.
ibv_qp_attr read_back(ibv_qp* qp) {
  QpAttributes queried;
  lab::check_errno(
      ibv_query_qp(qp, &queried.attr,
                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_PATH_MTU |
                       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
                       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                   &queried.init),
      "ibv_query_qp");
  return queried.attr;
}

// A step that must not work. The verb returns the errno value: look at the result, not at errno.
void try_mistake(ibv_qp* qp, ibv_qp_attr attr, int mask, const char* mistake) {
  const int result = lab::check_refusal(ibv_modify_qp(qp, &attr, mask), {EINVAL}, "ibv_modify_qp", mistake);
  std::printf("  mistake: %s: %s\n", mistake, result == 0 ? "accepted" : lab::errno_text(result).c_str());
  if (result == 0) {
    throw lab::Error("this device lets a step pass that the specification forbids; the rest would show nothing");
  }
}

void step(ibv_qp* qp, ibv_qp_attr attr, int mask, const char* name) {
  lab::check_errno(ibv_modify_qp(qp, &attr, mask), "ibv_modify_qp", name);
}

void show_init(ibv_qp* qp) {
  const ibv_qp_attr attr = read_back(qp);
  std::printf("%s: pkey_index %u, port_num %u, qp_access_flags %u (%s)\n", lab::qp_state_name(attr.qp_state),
              attr.pkey_index, attr.port_num, attr.qp_access_flags,
              attr.qp_access_flags == 0 ? "the peer may neither read nor write"
                                        : lab::access_text(attr.qp_access_flags).c_str());
}

void show_rtr(ibv_qp* qp) {
  const ibv_qp_attr attr = read_back(qp);
  std::printf("%s: path_mtu %d (%u bytes), dest_qp_num %u, rq_psn 0x%06x\n", lab::qp_state_name(attr.qp_state),
              attr.path_mtu, lab::mtu_bytes(attr.path_mtu), attr.dest_qp_num, attr.rq_psn);
  std::printf("     max_dest_rd_atomic %u (RDMA reads served at a time), min_rnr_timer %u (%.2f ms)\n",
              attr.max_dest_rd_atomic, attr.min_rnr_timer, lab::rnr_timer_ms(attr.min_rnr_timer));
  if (attr.ah_attr.is_global != 0) {
    std::printf("     is_global 1, sgid_index %u, hop_limit %u, dgid %s\n", attr.ah_attr.grh.sgid_index,
                attr.ah_attr.grh.hop_limit, lab::gid_text(attr.ah_attr.grh.dgid).c_str());
  } else {
    std::printf("     is_global 0, dlid 0x%04x\n", attr.ah_attr.dlid);
  }
}

void show_rts(ibv_qp* qp) {
  const ibv_qp_attr attr = read_back(qp);
  std::printf("%s: sq_psn 0x%06x, timeout %u (%.1f ms), retry_cnt %u, rnr_retry %u (%s)\n",
              lab::qp_state_name(attr.qp_state), attr.sq_psn, attr.timeout, lab::ack_timeout_ms(attr.timeout),
              attr.retry_cnt, attr.rnr_retry, attr.rnr_retry == 7 ? "without end" : "then an error");
  std::printf("     max_rd_atomic %u (RDMA reads outstanding at a time)\n", attr.max_rd_atomic);
}

void walk(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const std::optional<ibv_gid_entry> gid = lab::choose_gid(device, options);
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 1, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr init{.send_cq = cq.get(),
                        .recv_cq = cq.get(),
                        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> owned_qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};
  ibv_qp* const qp = owned_qp.get();
  std::printf("%s: QP %u, just created\n", lab::qp_state_name(read_back(qp).qp_state), qp->qp_num);

  // RESET -> INIT: which port, and what the peer may do.
  const ibv_qp_attr to_init{.qp_state = IBV_QPS_INIT, .qp_access_flags = 0, .pkey_index = 0, .port_num = device.port};
  const int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

  // INIT -> RTR: everything about the peer. This QP is its own peer; that is enough as long as nothing is sent.
  ibv_qp_attr to_rtr{.qp_state = IBV_QPS_RTR,
                     .path_mtu = device.port_attr.active_mtu,
                     .rq_psn = 0x000100,
                     .dest_qp_num = qp->qp_num,
                     .ah_attr = {.dlid = device.port_attr.lid, .port_num = device.port},
                     .max_dest_rd_atomic = 1,
                     .min_rnr_timer = 12};
  const int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  ibv_qp_attr without_grh = to_rtr;
  if (gid) {
    to_rtr.ah_attr.is_global = 1;
    to_rtr.ah_attr.grh = {.dgid = gid->gid, .sgid_index = static_cast<std::uint8_t>(gid->gid_index), .hop_limit = 64};
  }

  // RTR -> RTS: how this side sends, and how long it insists.
  const ibv_qp_attr to_rts{
      .qp_state = IBV_QPS_RTS, .sq_psn = 0x000100, .max_rd_atomic = 1, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
  const int rts_mask =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

  try_mistake(qp, to_rtr, rtr_mask, "RESET to RTR, a state skipped");
  try_mistake(qp, to_init, init_mask & ~IBV_QP_PORT, "INIT without IBV_QP_PORT");
  step(qp, to_init, init_mask, "RESET to INIT");
  show_init(qp);

  try_mistake(qp, to_rtr, rtr_mask & ~IBV_QP_RQ_PSN, "RTR without IBV_QP_RQ_PSN");
  try_mistake(qp, to_rtr, rtr_mask | IBV_QP_TIMEOUT, "RTR with IBV_QP_TIMEOUT, which belongs to RTS");
  if (device.port_attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
    try_mistake(qp, without_grh, rtr_mask, "RTR on Ethernet without a GRH");
  }
  step(qp, to_rtr, rtr_mask, "INIT to RTR");
  show_rtr(qp);

  try_mistake(qp, to_rts, rts_mask & ~IBV_QP_TIMEOUT, "RTS without IBV_QP_TIMEOUT");
  step(qp, to_rts, rts_mask, "RTR to RTS");
  show_rts(qp);

  // ERR can be entered from every state but RESET, and is left only through RESET. That empties both queues, and every
  // attribute has to be given again.
  step(qp, {.qp_state = IBV_QPS_ERR}, IBV_QP_STATE, "RTS to ERR");
  std::printf("%s: entered by hand; a failed request brings a QP here too\n",
              lab::qp_state_name(read_back(qp).qp_state));
  try_mistake(qp, to_rts, rts_mask, "ERR to RTS");
  step(qp, {.qp_state = IBV_QPS_RESET}, IBV_QP_STATE, "ERR to RESET");
  std::printf("%s: the way begins again\n", lab::qp_state_name(read_back(qp).qp_state));
  step(qp, to_init, init_mask, "RESET to INIT");
  show_init(qp);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "08-queue-pair-states: takes a QP from RESET to RTS and back, with the usual mistakes",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx}, walk);
}
