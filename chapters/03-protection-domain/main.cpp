// 03-protection-domain: what does a protection domain hold together, and why is it made once and not in a loop?
//
// Verbs:   ibv_alloc_pd, ibv_dealloc_pd
// Run:     ./lab run 03                 on the first device that has an active port
// Expect:  which objects belong to a protection domain and which do not; ibv_dealloc_pd refused while a memory region
//          lives in it, and accepted afterwards; what a pair of ibv_alloc_pd and ibv_dealloc_pd costs next to a poll
//          of an empty completion queue.
//
// A memory region and a completion queue are needed here as tenants only; chapters 07 and 04 explain them.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <concepts>
#include <cstdio>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;

// Whatever lives in a protection domain has a member that says in which one. The compiler knows which types do.
template <class T>
concept BelongsToPd = requires(T object) {
  { object.pd } -> std::convertible_to<ibv_pd*>;
};
static_assert(BelongsToPd<ibv_mr> && BelongsToPd<ibv_mw> && BelongsToPd<ibv_qp> && BelongsToPd<ibv_srq> &&
              BelongsToPd<ibv_ah> && BelongsToPd<ibv_wq>);
static_assert(!BelongsToPd<ibv_cq> && !BelongsToPd<ibv_comp_channel>);  // these have only a context

Pd alloc_pd(ibv_context* context) { return Pd{lab::check(ibv_alloc_pd(context), "ibv_alloc_pd")}; }

Mr register_memory(ibv_pd* pd, std::array<char, 4096>& buffer) {
  return Mr{lab::check(ibv_reg_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
}

// Tries to deallocate, and says what the verb answered: 0, or the refusal that is expected. The owner keeps what it
// owns only if the verb refused.
bool try_dealloc(const char* what, Pd& pd, int refusal = 0) {
  const int result = lab::check_refusal(ibv_dealloc_pd(pd.get()), {refusal}, "ibv_dealloc_pd", what);
  if (result == 0) {
    static_cast<void>(pd.release());  // it is gone: the owner must not deallocate it again
  }
  std::printf("ibv_dealloc_pd of %s: %s\n", what, result == 0 ? "0, it is gone" : lab::errno_text(result).c_str());
  return result == 0;
}

void show_tenants(ibv_context* context) {
  std::array<char, 4096> buffer{};
  // Declared before its tenants, so destroyed after them.
  Pd a = alloc_pd(context);
  Pd b = alloc_pd(context);
  std::printf("two protection domains of one context: A has handle %u, B has handle %u\n", a->handle, b->handle);

  Mr mr = register_memory(a.get(), buffer);
  std::printf("memory region made in A: its member pd points to %s\n", mr->pd == a.get() ? "A" : "another one");
  // No protection domain among the arguments: a completion queue belongs to the context.
  const Cq cq{lab::check(ibv_create_cq(context, 1, nullptr, nullptr, 0), "ibv_create_cq")};
  std::printf("completion queue: it has no member pd; its member context points to %s\n",
              cq->context == context ? "the device's context" : "another one");

  try_dealloc("B, while the completion queue lives", b);
  if (!try_dealloc("A, while the memory region lives", a, EBUSY)) {
    const Mr second = register_memory(a.get(), buffer);
    std::printf("  A is as it was: a second memory region in it was registered\n");
  }
  mr.reset();  // ibv_dereg_mr
  if (a) {
    try_dealloc("A, after its memory regions", a);
  }
}

// The median time of one call, in nanoseconds. Each sample times many calls: reading the clock costs something too.
template <class Call>
double median_ns(unsigned calls_per_sample, Call call) {
  using clock = std::chrono::steady_clock;
  std::vector<double> samples(101);
  for (double& sample : samples) {
    const auto start = clock::now();
    for (unsigned i = 0; i < calls_per_sample; ++i) {
      call();
    }
    sample = std::chrono::duration<double, std::nano>(clock::now() - start).count() / calls_per_sample;
  }
  return lab::median(samples);
}

void show_cost(ibv_context* context) {
  const double pair = median_ns(20, [=] { const Pd pd = alloc_pd(context); });  // made, and at once deallocated

  const Cq cq{lab::check(ibv_create_cq(context, 1, nullptr, nullptr, 0), "ibv_create_cq")};
  const double poll = median_ns(1000, [&] {
    ibv_wc completion;
    lab::check_poll(ibv_poll_cq(cq.get(), 1, &completion));
  });
  std::printf("control path: ibv_alloc_pd and ibv_dealloc_pd, %.0f ns a pair\n", pair);
  std::printf("data path: ibv_poll_cq of an empty queue, %.0f ns a call\n", poll);
  std::printf("one pair takes as long as %.0f polls\n", pair / poll);
}

void show_protection_domain(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  show_tenants(device.context.get());
  show_cost(device.context.get());
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "03-protection-domain: what belongs to a protection domain, and what making one costs",
                  {lab::Opt::ib_dev, lab::Opt::ib_port}, show_protection_domain);
}
