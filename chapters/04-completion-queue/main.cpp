// 04-completion-queue: how large must a completion queue be, and what happens when it is too small?
//
// Verbs:   ibv_create_cq, ibv_destroy_cq, ibv_poll_cq, ibv_get_async_event, ibv_ack_async_event
// Run:     ./lab run 04
// Expect:  sizes asked and granted; what is refused, by which limit; what polling an empty queue answers and costs;
//          then the same requests completed into a queue of the right size, and into one that overruns.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <infiniband/verbs.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

using std::chrono::steady_clock;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;

Cq create_cq(ibv_context* context, int entries) {
  // The three arguments after the size, as this chapter needs them:
  void* const cq_context = nullptr;           // any pointer of yours; ibv_get_cq_event(3) hands it back
  ibv_comp_channel* const channel = nullptr;  // where completion events go; none, since this program polls
  const int comp_vector = 0;                  // which interrupt signals this CQ's events: 0 to num_comp_vectors - 1
  return Cq{lab::check(ibv_create_cq(context, entries, cq_context, channel, comp_vector), "ibv_create_cq",
                       "CQ of " + std::to_string(entries) + " entries")};
}

void sizes(ibv_context* context) {
  std::printf("entries asked and granted:");
  for (const int asked : {1, 16, 100, 1024}) {
    const Cq cq = create_cq(context, asked);
    std::printf("  %d -> %d", asked, cq->cqe);
  }
  std::printf("\n");
}

// How deep the queues of one QP are: so many requests can be on their way at the same time.
struct Depth {
  int send;
  int receive;
};

// A CQ needs an entry for each request that can complete before you have polled: all of them, on all its QPs.
int entries_needed(std::span<const Depth> qps) {
  int entries = 0;
  for (const Depth& qp : qps) {
    entries += qp.send + qp.receive;
  }
  return entries;
}

void sizing(ibv_context* context) {
  constexpr std::array qps{Depth{.send = 64, .receive = 128}, Depth{.send = 64, .receive = 512}};
  const Cq cq = create_cq(context, entries_needed(qps));
  std::printf("for 2 QPs of 64 + 128 and 64 + 512 requests: asked %d, granted %d\n", entries_needed(qps), cq->cqe);
}

// Asks for something out of range, and prints what the verb answers.
void beyond_limit(ibv_context* context, int entries, int comp_vector, const std::string& what) {
  const Cq cq{ibv_create_cq(context, entries, nullptr, nullptr, comp_vector)};
  const int reason = cq == nullptr ? errno : 0;
  lab::check_refusal(reason, {EINVAL, ENOMEM}, "ibv_create_cq", what);
  std::printf("  %s: %s\n", what.c_str(), cq == nullptr ? lab::errno_text(reason).c_str() : "granted");
}

void limits(ibv_context* context) {
  ibv_device_attr device{};
  lab::check_errno(ibv_query_device(context, &device), "ibv_query_device");
  std::printf("beyond the limits:\n");
  beyond_limit(context, 0, 0, "0 entries");
  beyond_limit(context, device.max_cqe + 1, 0,
               std::to_string(device.max_cqe + 1) + " entries, max_cqe is " + std::to_string(device.max_cqe));
  const int vectors = context->num_comp_vectors;
  beyond_limit(context, 1, vectors,
               "comp_vector " + std::to_string(vectors) + ", num_comp_vectors is " + std::to_string(vectors));
}

void poll_empty(ibv_context* context) {
  const Cq cq = create_cq(context, 16);
  ibv_wc completion{};
  int found = 0;
  constexpr int polls = 1000;
  std::vector<double> nanoseconds(101);
  for (double& result : nanoseconds) {
    const auto start = steady_clock::now();
    for (int i = 0; i < polls; ++i) {
      found = lab::check_poll(ibv_poll_cq(cq.get(), 1, &completion));  // 0: nothing there; negative: it failed
    }
    result = std::chrono::duration<double, std::nano>(steady_clock::now() - start).count() / polls;
  }
  std::printf("polling an empty CQ: %d, in %.0f ns (median)\n", found, lab::median(nanoseconds));
}

// A preview, because a CQ fills only by a QP: chapter 05 creates them, chapter 08 has their states, chapter 09
// receives. It makes `count` requests complete at the same moment, without a network: receives posted to a QP that is
// then moved to the ERR state are "flushed", each with a completion of status WR_FLUSH_ERR.
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

Qp flush_receives(ibv_pd* pd, ibv_cq* cq, std::uint8_t port, int count) {
  ibv_qp_init_attr init{.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  init.cap = {.max_send_wr = 1, .max_recv_wr = static_cast<unsigned>(count), .max_send_sge = 1, .max_recv_sge = 1};
  Qp qp{lab::check(ibv_create_qp(pd, &init), "ibv_create_qp")};
  ibv_qp_attr to_init{.qp_state = IBV_QPS_INIT, .port_num = port};
  lab::check_errno(
      ibv_modify_qp(qp.get(), &to_init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
      "ibv_modify_qp", "to INIT");
  for (int i = 0; i < count; ++i) {
    ibv_recv_wr request{.wr_id = static_cast<std::uint64_t>(i)};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(qp.get(), &request, &bad), "ibv_post_recv");
  }
  ibv_qp_attr to_err{.qp_state = IBV_QPS_ERR};
  lab::check_errno(ibv_modify_qp(qp.get(), &to_err, IBV_QP_STATE), "ibv_modify_qp", "to ERR");
  return qp;
}

// Reads the events that the device reports of itself, until none comes for 200 ms, at most 5 s long.
// Returns how many said that this CQ is in error.
int count_cq_errors(ibv_context* context, const ibv_cq* cq) {
  int count = 0;
  const auto deadline = steady_clock::now() + std::chrono::seconds{5};
  pollfd readable{.fd = context->async_fd, .events = POLLIN};
  while (steady_clock::now() < deadline && lab::check_minus_one(poll(&readable, 1, 200), "poll") == 1) {
    ibv_async_event event{};
    lab::check_minus_one(ibv_get_async_event(context, &event), "ibv_get_async_event");
    if (event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == cq) {
      ++count;
    }
    ibv_ack_async_event(&event);  // ibv_destroy_cq waits until every event of the CQ is acknowledged
  }
  return count;
}

void complete_into(const lab::Device& device, ibv_pd* pd, ibv_cq* cq, int count) {
  const Qp qp = flush_receives(pd, cq, device.port, count);
  const int errors = count_cq_errors(device.context.get(), cq);
  int kept = 0;
  int found = 0;
  ibv_wc completion{};
  while ((found = lab::check_poll(ibv_poll_cq(cq, 1, &completion))) > 0) {
    ++kept;
  }
  std::printf("  CQ of %d entries: %d completions, %d lost, IBV_EVENT_CQ_ERR %d times; polled once more: %d\n", cq->cqe,
              kept, count - kept, errors, found);
}

void overrun(const lab::Device& device) {
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const Cq small = create_cq(device.context.get(), 3);
  const int count = small->cqe + 8;  // 8 more than fit
  const Cq enough = create_cq(device.context.get(), count);
  std::printf("%d requests complete before anybody polls:\n", count);
  complete_into(device, pd.get(), enough.get(), count);
  complete_into(device, pd.get(), small.get(), count);
}

void completion_queue(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  ibv_context* const context = device.context.get();
  sizes(context);
  sizing(context);
  limits(context);
  poll_empty(context);
  overrun(device);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "04-completion-queue: sizes, limits and the overrun of a completion queue",
                  {lab::Opt::ib_dev, lab::Opt::ib_port}, completion_queue);
}
