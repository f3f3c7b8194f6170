#include "tools/deviations/bench.hpp"

#include "common/deadline.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <thread>

namespace deviations {

namespace {

constexpr std::size_t memory_size = 16384;  // the first half is sent from, the second received into

}  // namespace

Bench::Bench(const lab::Options& options)
    : device{lab::open_device(options)},
      path{.port = device.port, .mtu = IBV_MTU_1024, .sl = 0, .source = lab::choose_gid(device, options)},
      pd{lab::check(ibv_alloc_pd(context()), "ibv_alloc_pd")},
      memory(memory_size),
      mr{lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), every_right), "ibv_reg_mr")} {
  lab::check_errno(ibv_query_device(context(), &limits), "ibv_query_device");
  path.mtu = std::min(path.mtu, device.port_attr.active_mtu);
  // Events are looked for, never waited for without end.
  const int flags = lab::check_minus_one(fcntl(context()->async_fd, F_GETFL), "fcntl");
  lab::check_minus_one(fcntl(context()->async_fd, F_SETFL, flags | O_NONBLOCK), "fcntl");
}

Cq Bench::make_cq(int entries, ibv_comp_channel* channel) const {
  return Cq{lab::check(ibv_create_cq(context(), entries, nullptr, channel, 0), "ibv_create_cq")};
}

std::uint64_t Bench::address(std::size_t offset) const {
  return reinterpret_cast<std::uintptr_t>(memory.data()) + offset;
}

std::string Bench::events(std::chrono::milliseconds patience) const {
  std::map<std::string, int> counts;
  constexpr auto pause = 300ms;
  pollfd readable{.fd = context()->async_fd, .events = POLLIN, .revents = 0};
  while (poll(&readable, 1, static_cast<int>((counts.empty() ? patience : pause).count())) > 0) {
    ibv_async_event event{};
    lab::check_minus_one(ibv_get_async_event(context(), &event), "ibv_get_async_event");
    switch (event.event_type) {
      case IBV_EVENT_CQ_ERR:
        ++counts["IBV_EVENT_CQ_ERR"];
        break;
      case IBV_EVENT_COMM_EST:
        ++counts["IBV_EVENT_COMM_EST"];
        break;
      case IBV_EVENT_SQ_DRAINED:
        ++counts["IBV_EVENT_SQ_DRAINED"];
        break;
      case IBV_EVENT_QP_LAST_WQE_REACHED:
        ++counts["IBV_EVENT_QP_LAST_WQE_REACHED"];
        break;
      case IBV_EVENT_SRQ_LIMIT_REACHED:
        ++counts["IBV_EVENT_SRQ_LIMIT_REACHED"];
        break;
      case IBV_EVENT_QP_FATAL:
        ++counts["IBV_EVENT_QP_FATAL"];
        break;
      case IBV_EVENT_QP_REQ_ERR:
        ++counts["IBV_EVENT_QP_REQ_ERR"];
        break;
      case IBV_EVENT_QP_ACCESS_ERR:
        ++counts["IBV_EVENT_QP_ACCESS_ERR"];
        break;
      default:
        ++counts["event " + std::to_string(event.event_type)];
    }
    ibv_ack_async_event(&event);
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    parts.push_back(name + " " + (count == 1 ? "once" : std::to_string(count) + " times"));
  }
  return parts.empty() ? "no event" : joined(parts);
}

Pair::Pair(const Bench& bench_, const Setup& setup_)
    : bench{bench_},
      setup{setup_},
      cq{bench.make_cq(setup.cq_entries)},
      peer_cq{bench.make_cq(setup.cq_entries)},
      qp{make(cq.get(), nullptr)},
      peer{make(peer_cq.get(), setup.srq)} {}

Qp Pair::make(ibv_cq* completions, ibv_srq* srq) const {
  ibv_qp_init_attr init{
      .send_cq = completions, .recv_cq = completions, .srq = srq, .cap = setup.cap, .qp_type = setup.type};
  return Qp{lab::check(ibv_create_qp(bench.pd.get(), &init), "ibv_create_qp")};
}

void Pair::init(ibv_qp* which) const { lab::to_init(which, bench.path, setup.access); }

void Pair::rtr(ibv_qp* which) const {
  const ibv_qp* const other = which == qp.get() ? peer.get() : qp.get();
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTR,
                   .path_mtu = bench.path.mtu,
                   .rq_psn = 0,
                   .dest_qp_num = other->qp_num,
                   .ah_attr = {.dlid = bench.device.port_attr.lid, .port_num = bench.path.port},
                   .max_dest_rd_atomic = setup.dest_rd_atomic,
                   .min_rnr_timer = setup.min_rnr_timer};
  if (bench.path.source) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh = {.dgid = bench.path.source->gid,
                        .sgid_index = static_cast<std::uint8_t>(bench.path.source->gid_index),
                        .hop_limit = 64};
  }
  int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (setup.type == IBV_QPT_RC) {
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  lab::check_errno(ibv_modify_qp(which, &attr, mask), "ibv_modify_qp", "INIT to RTR");
}

void Pair::rts(ibv_qp* which) const {
  ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                   .sq_psn = 0,
                   .max_rd_atomic = setup.rd_atomic,
                   .timeout = setup.persistence.timeout,
                   .retry_cnt = setup.persistence.retry_cnt,
                   .rnr_retry = setup.persistence.rnr_retry};
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (setup.type == IBV_QPT_RC) {
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  lab::check_errno(ibv_modify_qp(which, &attr, mask), "ibv_modify_qp", "RTR to RTS");
}

void Pair::connect() const {
  init(qp.get());
  init(peer.get());
  connect_from_init();
}

void Pair::connect_from_init() const {
  for (ibv_qp* const which : {qp.get(), peer.get()}) {
    rtr(which);
    rts(which);
  }
}

ibv_sge Pair::from(std::uint32_t length) const {
  return {.addr = bench.address(), .length = length, .lkey = bench.mr->lkey};
}

ibv_sge Pair::into(std::uint32_t length) const {
  return {.addr = bench.address(memory_size / 2), .length = length, .lkey = bench.mr->lkey};
}

Request Pair::one_sided(ibv_wr_opcode opcode, std::uint32_t length) const {
  return {.sge = from(length), .opcode = opcode, .remote_addr = bench.address(memory_size / 2), .rkey = bench.mr->rkey};
}

std::string Pair::outcome(std::chrono::milliseconds patience) const {
  const std::optional<ibv_wc> sender = completion(cq.get(), patience);
  // The second's comes at about the same time, or never.
  const std::optional<ibv_wc> receiver = completion(peer_cq.get(), 300ms);
  return "sender " + status(sender) + ", receiver " + status(receiver);
}

int post_send(ibv_qp* qp, Request request, ibv_send_wr** bad) {
  ibv_send_wr wr{.wr_id = 2,
                 .sg_list = &request.sge,
                 .num_sge = request.num_sge,
                 .opcode = request.opcode,
                 .send_flags = request.flags};
  if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic = {.remote_addr = request.remote_addr, .compare_add = 1, .swap = 0, .rkey = request.rkey};
  } else {
    wr.wr.rdma = {.remote_addr = request.remote_addr, .rkey = request.rkey};
  }
  ibv_send_wr* unused = nullptr;
  const int result = ibv_post_send(qp, &wr, bad == nullptr ? &unused : bad);
  if (bad != nullptr && *bad != nullptr && *bad != &wr) {
    throw lab::Error("ibv_post_send: bad_wr is no request that was posted");
  }
  return result;
}

int post_recv(ibv_qp* qp, ibv_sge sge, int num_sge) {
  ibv_recv_wr wr{.wr_id = 1, .sg_list = &sge, .num_sge = num_sge};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &wr, &bad);
}

std::optional<ibv_wc> completion(ibv_cq* cq, std::chrono::milliseconds patience) {
  const lab::Deadline deadline{patience};
  ibv_wc found{};
  while (true) {
    if (lab::check_poll(ibv_poll_cq(cq, 1, &found)) > 0) {
      return found;
    }
    if (deadline.passed()) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(100us);  // leaves the processor to the device, which is software here
  }
}

int completions(ibv_cq* cq, std::chrono::milliseconds pause) {
  int count = 0;
  while (completion(cq, pause)) {
    ++count;
  }
  return count;
}

std::string status(const std::optional<ibv_wc>& found) { return found ? lab::status_text(found->status) : "none"; }

std::string answer(int result) {
  if (result == 0) {
    return "success";
  }
  const char* const name = strerrorname_np(result);
  return name == nullptr ? std::to_string(result) : name;
}

std::string answer_of(const void* made) { return made == nullptr ? answer(errno) : "made"; }

std::string joined(std::span<const std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace deviations
