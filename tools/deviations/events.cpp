// Completion events and asynchronous events.
#include "tools/deviations/bench.hpp"

#include <poll.h>

#include <array>
#include <thread>

namespace deviations {

namespace {

using Channel = lab::Owned<ibv_comp_channel, ibv_destroy_comp_channel>;

// Whether a completion event comes; takes and acknowledges it.
bool event_comes(const Channel& channel, std::chrono::milliseconds patience) {
  pollfd readable{.fd = channel->fd, .events = POLLIN, .revents = 0};
  if (lab::check_minus_one(poll(&readable, 1, static_cast<int>(patience.count())), "poll") == 0) {
    return false;
  }
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  lab::check_minus_one(ibv_get_cq_event(channel.get(), &cq, &context), "ibv_get_cq_event");
  ibv_ack_cq_events(cq, 1);
  return true;
}

// A write that completes, and ibv_req_notify_cq before or after it.
std::string armed(const Bench& bench, bool before) {
  const Channel channel{lab::check(ibv_create_comp_channel(bench.context()), "ibv_create_comp_channel")};
  const Cq cq = bench.make_cq(8, channel.get());
  const Setup setup;
  Pair pair{bench, setup};
  ibv_qp_init_attr init{.send_cq = cq.get(), .recv_cq = cq.get(), .cap = setup.cap, .qp_type = IBV_QPT_RC};
  pair.qp.reset(lab::check(ibv_create_qp(bench.pd.get(), &init), "ibv_create_qp"));
  pair.connect();
  if (before) {
    lab::check_errno(ibv_req_notify_cq(cq.get(), 0), "ibv_req_notify_cq");
  }
  lab::check_errno(post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_WRITE)), "ibv_post_send");
  if (!before) {
    std::this_thread::sleep_for(1s);  // the completion is there now
    lab::check_errno(ibv_req_notify_cq(cq.get(), 0), "ibv_req_notify_cq");
  }
  const bool came = event_comes(channel, before ? 5000ms : 500ms);
  const int waiting = completions(cq.get());
  return std::string{came ? "an event" : "no event"} + ", completions waiting: " + std::to_string(waiting);
}

std::string armed_in_time(const Bench& bench) { return armed(bench, true); }
std::string armed_late(const Bench& bench) { return armed(bench, false); }

std::string failure_events(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  Request request = pair.one_sided(IBV_WR_RDMA_WRITE);
  request.rkey += 0x10000;
  lab::check_errno(post_send(pair.qp.get(), request), "ibv_post_send");
  return status(completion(pair.cq.get(), 10s)) + ", " + bench.events(500ms);
}

std::string communication_established(const Bench& bench) {
  const Pair pair{bench, {}};
  for (ibv_qp* const which : {pair.qp.get(), pair.peer.get()}) {
    pair.init(which);
    pair.rtr(which);
  }
  pair.rts(pair.qp.get());  // the second stays in RTR
  lab::check_errno(post_recv(pair.peer.get(), pair.into()), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  const std::string outcome = pair.outcome();
  return outcome + ", " + bench.events(500ms);
}

Srq make_srq(const Bench& bench) {
  ibv_srq_init_attr init{.attr = {.max_wr = 8, .max_sge = 1}};
  return Srq{lab::check(ibv_create_srq(bench.pd.get(), &init), "ibv_create_srq")};
}

std::string last_wqe(const Bench& bench) {
  const Srq srq = make_srq(bench);
  Setup setup;
  setup.srq = srq.get();
  const Pair pair{bench, setup};
  pair.connect();
  ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
  lab::check_errno(ibv_modify_qp(pair.peer.get(), &attr, IBV_QP_STATE), "ibv_modify_qp");
  return bench.events(500ms);
}

std::string srq_limit(const Bench& bench) {
  const Srq srq = make_srq(bench);
  Setup setup;
  setup.srq = srq.get();
  const Pair pair{bench, setup};
  pair.connect();
  ibv_sge into = pair.into();
  for (int i = 0; i < 4; ++i) {
    ibv_recv_wr wr{.wr_id = 1, .sg_list = &into, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_srq_recv(srq.get(), &wr, &bad), "ibv_post_srq_recv");
  }
  ibv_srq_attr attr{.srq_limit = 3};
  lab::check_errno(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
  for (int i = 0; i < 3; ++i) {
    lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
    static_cast<void>(completion(pair.cq.get(), 5s));
  }
  const std::string events = bench.events(3s);
  lab::check_errno(ibv_query_srq(srq.get(), &attr), "ibv_query_srq");
  return events + ", srq_limit then " + std::to_string(attr.srq_limit);
}

constexpr std::array event_rows{
    Row{"armed-in-time", "ibv_req_notify_cq, then a request completes", armed_in_time},
    Row{"armed-late", "ibv_req_notify_cq after the completion is there", armed_late},
    Row{"failure-events", "asynchronous events of a failed RDMA write (wrong rkey)", failure_events},
    Row{"communication-established", "a message comes to a QP in RTR", communication_established},
    Row{"last-wqe", "a QP with an SRQ goes to ERR", last_wqe},
    Row{"srq-limit", "limit 3, 4 receives posted, 3 messages", srq_limit},
};

}  // namespace

std::span<const Row> events() { return event_rows; }

}  // namespace deviations
