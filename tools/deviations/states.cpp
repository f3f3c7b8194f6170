// ibv_modify_qp: what is taken, what is refused, with which errno value.
#include "tools/deviations/bench.hpp"

#include "common/units.hpp"

#include <array>

namespace deviations {

namespace {

constexpr int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int rts_mask =
    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr init_attr(const Bench& bench) { return {.qp_state = IBV_QPS_INIT, .port_num = bench.path.port}; }

// To the QP itself, which is as good as any other for a step that moves nothing.
ibv_qp_attr rtr_attr(const Pair& pair) {
  const lab::Path& path = pair.bench.path;
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTR,
                   .path_mtu = path.mtu,
                   .dest_qp_num = pair.peer->qp_num,
                   .ah_attr = {.dlid = pair.bench.device.port_attr.lid, .port_num = path.port},
                   .max_dest_rd_atomic = 1,
                   .min_rnr_timer = 12};
  if (path.source) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh = {
        .dgid = path.source->gid, .sgid_index = static_cast<std::uint8_t>(path.source->gid_index), .hop_limit = 64};
  }
  return attr;
}

ibv_qp_attr rts_attr() {
  return {.qp_state = IBV_QPS_RTS, .max_rd_atomic = 1, .timeout = 14, .retry_cnt = 6, .rnr_retry = 6};
}

std::string state(const Pair& pair) { return lab::qp_state_name(lab::state_of(pair.qp.get())); }

// Makes one step with one thing changed, from the state before it.
template <class Change>
std::string init_with(const Bench& bench, Change change) {
  const Pair pair{bench, {}};
  ibv_qp_attr attr = init_attr(bench);
  int mask = init_mask;
  change(attr, mask);
  return answer(ibv_modify_qp(pair.qp.get(), &attr, mask));
}

template <class Change>
std::string rtr_with(const Bench& bench, Change change) {
  const Pair pair{bench, {}};
  pair.init(pair.qp.get());
  ibv_qp_attr attr = rtr_attr(pair);
  int mask = rtr_mask;
  change(attr, mask);
  return answer(ibv_modify_qp(pair.qp.get(), &attr, mask));
}

template <class Change>
std::string rts_with(const Bench& bench, Change change) {
  const Pair pair{bench, {}};
  pair.init(pair.qp.get());
  pair.rtr(pair.qp.get());
  ibv_qp_attr attr = rts_attr();
  int mask = rts_mask;
  change(attr, mask);
  return answer(ibv_modify_qp(pair.qp.get(), &attr, mask));
}

std::string qp_new(const Bench& bench) { return state(Pair{bench, {}}); }

std::string step_skipped(const Bench& bench) {
  const Pair pair{bench, {}};
  ibv_qp_attr attr = rtr_attr(pair);
  return answer(ibv_modify_qp(pair.qp.get(), &attr, rtr_mask)) + ", still in " + state(pair);
}

std::string to_err(const Bench& bench) {
  std::vector<std::string> answers;
  const auto attempt = [&](const Pair& pair) {
    ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
    answers.push_back(answer(ibv_modify_qp(pair.qp.get(), &attr, IBV_QP_STATE)));
  };
  const Pair in_reset{bench, {}};
  attempt(in_reset);
  const Pair in_init{bench, {}};
  in_init.init(in_init.qp.get());
  attempt(in_init);
  return joined(answers);
}

std::string mask_missing(const Bench& bench) {
  return rtr_with(bench, [](ibv_qp_attr&, int& mask) { mask &= ~IBV_QP_MIN_RNR_TIMER; });
}

std::string mask_extra(const Bench& bench) {
  return init_with(bench, [](ibv_qp_attr&, int& mask) { mask |= IBV_QP_TIMEOUT; });
}

std::string pkey_index(const Bench& bench) {
  return init_with(bench, [](ibv_qp_attr& attr, int&) { attr.pkey_index = 999; });
}

std::string port_number(const Bench& bench) {
  return init_with(bench, [](ibv_qp_attr& attr, int&) { attr.port_num = 0; }) + " in INIT, " +
         rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.ah_attr.port_num = 0; }) + " in ah_attr";
}

std::string grh_missing(const Bench& bench) {
  return rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.ah_attr.is_global = 0; });
}

std::string gid_index_empty(const Bench& bench) {
  return rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.ah_attr.grh.sgid_index = 200; });
}

std::string gid_peer_wrong(const Bench& bench) {
  // One that is not of the family of the local GID, link-local or IPv4-mapped.
  ibv_gid other{};
  if (bench.path.source && bench.path.source->gid.raw[0] == 0) {
    other.raw[0] = 0xfe;
    other.raw[1] = 0x80;
  } else {
    other.raw[10] = other.raw[11] = 0xff;
    other.raw[12] = 192;
    other.raw[14] = 2;
  }
  other.raw[15] = 1;
  return rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.ah_attr.grh.dgid = {}; }) + " for zeros, " +
         rtr_with(bench, [&](ibv_qp_attr& attr, int&) { attr.ah_attr.grh.dgid = other; }) + " for the other family";
}

std::string mtu_above_active(const Bench& bench) {
  return rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.path_mtu = IBV_MTU_4096; });
}

std::string mtu_no_value(const Bench& bench) {
  const auto attempt = [&](int value) {
    return rtr_with(bench, [=](ibv_qp_attr& attr, int&) { attr.path_mtu = static_cast<ibv_mtu>(value); });
  };
  return attempt(0) + " for 0, " + attempt(6) + " for 6";
}

std::string timer_ranges(const Bench& bench) {
  return "min_rnr_timer " + rtr_with(bench, [](ibv_qp_attr& attr, int&) { attr.min_rnr_timer = 32; }) + ", timeout " +
         rts_with(bench, [](ibv_qp_attr& attr, int&) { attr.timeout = 32; }) + ", retry_cnt " +
         rts_with(bench, [](ibv_qp_attr& attr, int&) { attr.retry_cnt = 8; }) + ", rnr_retry " +
         rts_with(bench, [](ibv_qp_attr& attr, int&) { attr.rnr_retry = 8; });
}

std::string rd_atomic_limit(const Bench& bench) {
  const int limit = bench.limits.max_qp_rd_atom;
  if (limit >= 255) {
    throw lab::Error("max_qp_rd_atom fills the field");
  }
  const auto above = static_cast<std::uint8_t>(limit + 1);
  return "limit " + std::to_string(limit) + ": max_rd_atomic " +
         rts_with(bench, [=](ibv_qp_attr& attr, int&) { attr.max_rd_atomic = above; }) + ", max_dest_rd_atomic " +
         rtr_with(bench, [=](ibv_qp_attr& attr, int&) { attr.max_dest_rd_atomic = above; });
}

std::string qp_resize(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  ibv_qp_attr attr{.cap = {.max_send_wr = 100, .max_recv_wr = 100, .max_send_sge = 1, .max_recv_sge = 1}};
  return answer(ibv_modify_qp(pair.qp.get(), &attr, IBV_QP_CAP));
}

std::string query_echo(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  lab::check_errno(ibv_query_qp(pair.qp.get(), &attr, IBV_QP_STATE, &init), "ibv_query_qp");
  return "timeout " + std::to_string(attr.timeout) + ", retry_cnt " + std::to_string(attr.retry_cnt) +
         ", min_rnr_timer " + std::to_string(attr.min_rnr_timer);
}

std::string sqd(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  ibv_qp_attr attr{.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
  const int result = ibv_modify_qp(pair.qp.get(), &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
  return answer(result) + ", then in " + state(pair) + ", " + bench.events(3s);
}

constexpr std::array state_rows{
    Row{"qp-new", "the state of a new QP", qp_new},
    Row{"step-skipped", "ibv_modify_qp from RESET to RTR", step_skipped},
    Row{"to-err", "ibv_modify_qp to ERR, from RESET and from INIT", to_err},
    Row{"mask-missing", "INIT to RTR without IBV_QP_MIN_RNR_TIMER", mask_missing},
    Row{"mask-extra", "RESET to INIT with IBV_QP_TIMEOUT as well", mask_extra},
    Row{"pkey-index", "RESET to INIT with pkey_index 999", pkey_index},
    Row{"port-number", "port 0 in port_num of INIT, in ah_attr of RTR", port_number},
    Row{"grh-missing", "INIT to RTR without is_global", grh_missing},
    Row{"gid-index-empty", "INIT to RTR with the sgid_index of an empty slot", gid_index_empty},
    Row{"gid-peer-wrong", "INIT to RTR with a dgid that cannot be", gid_peer_wrong},
    Row{"mtu-above-active", "INIT to RTR with path_mtu 4096, above active_mtu", mtu_above_active},
    Row{"mtu-no-value", "INIT to RTR with a path_mtu outside of the enumeration", mtu_no_value},
    Row{"value-ranges", "min_rnr_timer 32, timeout 32, retry_cnt 8, rnr_retry 8: each one above its range",
        timer_ranges},
    Row{"rd-atomic-limit", "one above max_qp_rd_atom", rd_atomic_limit},
    Row{"qp-resize", "IBV_QP_CAP in RTS, from 8 to 100", qp_resize},
    Row{"query-echo", "ibv_query_qp with the mask IBV_QP_STATE after timeout 14, retry_cnt 6, min_rnr_timer 12",
        query_echo},
    Row{"sqd", "RTS to SQD with en_sqd_async_notify", sqd},
};

}  // namespace

std::span<const Row> states() { return state_rows; }

}  // namespace deviations
