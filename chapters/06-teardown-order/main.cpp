// 06-teardown-order: in which order must verbs objects be destroyed, and what does a wrong order do?
//
// Verbs:   ibv_destroy_qp, ibv_destroy_srq, ibv_dereg_mr, ibv_dealloc_pd, ibv_destroy_cq, ibv_destroy_comp_channel,
//          ibv_close_device. MR (chapter 07) and SRQ (chapter 18, planned) are made here only to be destroyed.
// Run:     ./lab run 06
// Expect:  each wrong order with what the verb answered (EBUSY), a right order by hand, all right orders there are, the
//          same by ownership, and what ibv_close_device does when it comes first.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace {

using Channel = lab::Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Srq = lab::Owned<ibv_srq, ibv_destroy_srq>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

alignas(4096) std::array<std::byte, 65536> buffer{};

// What chapters 03 to 05 have made, in small. Whoever calls these owns the result.
ibv_pd* new_pd(ibv_context* context) { return lab::check(ibv_alloc_pd(context), "ibv_alloc_pd"); }

ibv_cq* new_cq(ibv_context* context, ibv_comp_channel* channel = nullptr) {
  return lab::check(ibv_create_cq(context, 16, nullptr, channel, 0), "ibv_create_cq");
}

ibv_mr* new_mr(ibv_pd* pd) { return lab::check(ibv_reg_mr(pd, buffer.data(), buffer.size(), 0), "ibv_reg_mr"); }

ibv_srq* new_srq(ibv_pd* pd) {
  ibv_srq_init_attr attr{.attr = {.max_wr = 16, .max_sge = 1}};
  return lab::check(ibv_create_srq(pd, &attr), "ibv_create_srq");
}

ibv_qp* new_qp(ibv_pd* pd, ibv_cq* cq, ibv_srq* srq = nullptr, std::uint32_t depth = 16) {
  ibv_qp_init_attr attr{};
  attr.send_cq = cq;
  attr.recv_cq = cq;
  attr.srq = srq;
  attr.cap = {.max_send_wr = depth, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1};
  attr.qp_type = IBV_QPT_RC;
  return lab::check(ibv_create_qp(pd, &attr), "ibv_create_qp");
}

// Prints what a destroy verb returned and, where it refused, what it left in errno. If the object is gone, its owner
// lets go of the pointer: a second destroy is a crash. If not, the owner keeps it: the object is as alive as before.
// Where the order is wrong, EBUSY is the one `refusal` that is about the order; anything else is an error.
template <class T, auto Destroy>
void answer(const char* attempt, int result, lab::Owned<T, Destroy>& owner, int refusal = 0) {
  const int left_in_errno = errno;
  lab::check_refusal(result, {refusal}, lab::verb_name<Destroy>(), attempt);
  if (result == 0) {
    std::printf("  %-40s 0\n", attempt);
    static_cast<void>(owner.release());
  } else {
    std::printf("  %-40s %s, errno %d\n", attempt, lab::errno_text(result).c_str(), left_in_errno);
  }
  errno = 0;
}

// A protection domain stays while anything lives in it, whatever that is: three of them, with one thing each.
void too_early_for_a_pd(ibv_context* context) {
  Pd with_mr{new_pd(context)};
  Pd with_srq{new_pd(context)};
  Pd with_qp{new_pd(context)};
  const Cq cq{new_cq(context)};
  const Mr mr{new_mr(with_mr.get())};
  const Srq srq{new_srq(with_srq.get())};
  const Qp qp{new_qp(with_qp.get(), cq.get())};
  answer("ibv_dealloc_pd, an MR is alive", ibv_dealloc_pd(with_mr.get()), with_mr, EBUSY);
  answer("ibv_dealloc_pd, an SRQ is alive", ibv_dealloc_pd(with_srq.get()), with_srq, EBUSY);
  answer("ibv_dealloc_pd, a QP is alive", ibv_dealloc_pd(with_qp.get()), with_qp, EBUSY);
}

// All the objects at once. The owners matter only if a create verb fails: without them, all that was made before it
// would have to be destroyed by hand.
void by_hand(ibv_context* context) {
  Channel channel{lab::check(ibv_create_comp_channel(context), "ibv_create_comp_channel")};
  Cq cq{new_cq(context, channel.get())};
  Pd pd{new_pd(context)};
  Mr mr{new_mr(pd.get())};
  Srq srq{new_srq(pd.get())};
  Qp qp{new_qp(pd.get(), cq.get(), srq.get())};

  answer("ibv_destroy_srq, a QP uses it", ibv_destroy_srq(srq.get()), srq, EBUSY);
  answer("ibv_destroy_cq, a QP uses it", ibv_destroy_cq(cq.get()), cq, EBUSY);
  answer("ibv_destroy_comp_channel, a CQ uses it", ibv_destroy_comp_channel(channel.get()), channel, EBUSY);

  if (srq && cq && channel) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    ibv_wc completion{};
    lab::check_errno(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), "ibv_query_qp");
    std::printf("still usable: the QP is in %s, ibv_poll_cq finds %d completions\n", lab::qp_state_name(attr.qp_state),
                lab::check_poll(ibv_poll_cq(cq.get(), 1, &completion)));
  }

  std::puts("in order, by hand:");  // users first, then what they used
  answer("ibv_destroy_qp", ibv_destroy_qp(qp.get()), qp);
  answer("ibv_destroy_srq", ibv_destroy_srq(srq.get()), srq);
  answer("ibv_dereg_mr", ibv_dereg_mr(mr.get()), mr);
  answer("ibv_dealloc_pd", ibv_dealloc_pd(pd.get()), pd);
  answer("ibv_destroy_cq", ibv_destroy_cq(cq.get()), cq);
  answer("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel.get()), channel);
}

template <class T, auto Destroy>
bool is_destroyed(lab::Owned<T, Destroy>& owner) {
  if (lab::check_refusal(Destroy(owner.get()), {EBUSY}, lab::verb_name<Destroy>()) == EBUSY) {
    return false;
  }
  static_cast<void>(owner.release());
  return true;
}

// Makes four objects and destroys them in each of the 24 orders, until a verb refuses.
void every_order(ibv_context* context) {
  std::array<std::string_view, 4> order{"CQ", "MR", "PD", "QP"};
  do {
    Pd pd{new_pd(context)};
    Cq cq{new_cq(context)};
    Mr mr{new_mr(pd.get())};
    Qp qp{new_qp(pd.get(), cq.get())};
    const bool accepted = std::ranges::all_of(order, [&](std::string_view object) {
      return object == "CQ"   ? is_destroyed(cq)
             : object == "MR" ? is_destroyed(mr)
             : object == "PD" ? is_destroyed(pd)
                              : is_destroyed(qp);
    });
    if (accepted) {
      std::printf("  %s, %s, %s, %s\n", order[0].data(), order[1].data(), order[2].data(), order[3].data());
    }
  } while (std::ranges::next_permutation(order).found);
}

// lab::Owned, taken apart: a std::unique_ptr, and a deleter that calls the destroy verb. This one says when it does.
template <auto Destroy>
struct TracingDestroyer {
  template <class T>
  void operator()(T* object) const noexcept {
    std::printf(" %s,", std::string{lab::verb_name<Destroy>()}.c_str());
    lab::Destroyer<Destroy>{}(object);
  }
};

template <class T, auto Destroy>
using Traced = std::unique_ptr<T, TracingDestroyer<Destroy>>;

// Leaving this function destroys what it has made, the last first: at its end, and where ibv_create_qp fails.
void by_ownership(ibv_context* context, std::uint32_t depth) {
  std::printf("  send queue of %u:", depth);
  const Traced<ibv_pd, ibv_dealloc_pd> pd{new_pd(context)};
  const Traced<ibv_cq, ibv_destroy_cq> cq{new_cq(context)};
  const Traced<ibv_mr, ibv_dereg_mr> mr{new_mr(pd.get())};
  const Traced<ibv_qp, ibv_destroy_qp> qp{new_qp(pd.get(), cq.get(), nullptr, depth)};
}

// The memory that registrations hold in this process, as the kernel counts it.
int pinned_kib() {
  std::ifstream status{"/proc/self/status"};
  std::string text;
  std::getline(status, text, '\0');
  return std::stoi(text.substr(text.find("VmPin:") + 6));
}

// In a process of its own: what this leaves behind goes away when that process ends.
void device_first(const lab::Options& options, bool with_cq) {
  std::fflush(stdout);
  const pid_t child = lab::check_minus_one(fork(), "fork");
  if (child == 0) {
    lab::Device device = lab::open_device(options);
    const Pd pd{new_pd(device.context.get())};
    const Mr mr{new_mr(pd.get())};
    const Cq cq{with_cq ? new_cq(device.context.get()) : nullptr};
    const int before = pinned_kib();
    const int result = lab::check_minus_one(ibv_close_device(device.context.get()), "ibv_close_device");
    static_cast<void>(device.context.release());
    std::printf("  ibv_close_device, PD%s MR alive: %d; pinned %d KiB, then %d KiB\n", with_cq ? ", CQ and" : " and",
                result, before, pinned_kib());
    std::fflush(stdout);
    _exit(0);  // pd, mr and cq dangle: no destructor may run
  }
  int status = 0;
  lab::check_minus_one(waitpid(child, &status, 0), "waitpid");
  if (status != 0) {
    throw lab::Error("the process that closed its device first has failed");
  }
}

void tear_down(const lab::Options& options) {
  {
    const lab::Device device = lab::open_device(options);
    std::printf("device %s\ntoo early:\n", device.name());
    too_early_for_a_pd(device.context.get());
    by_hand(device.context.get());
    std::puts("orders that every verb accepts, of 24:");
    every_order(device.context.get());
    std::puts("by ownership:");
    by_ownership(device.context.get(), 16);
    std::puts(" end of the function");
    try {
      by_ownership(device.context.get(), 1U << 30U);
    } catch (const lab::VerbError& error) {
      if (error.verb() != "ibv_create_qp" || (error.code() != EINVAL && error.code() != ENOMEM)) {
        throw;  // not because it is too deep
      }
      std::printf(" ibv_create_qp had failed: %s\n", lab::errno_text(error.code()).c_str());
    }
  }
  std::puts("the device first:");
  device_first(options, false);
  device_first(options, true);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "06-teardown-order: destroys verbs objects in wrong and in right orders",
                  {lab::Opt::ib_dev, lab::Opt::ib_port}, tear_down);
}
