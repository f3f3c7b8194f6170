// 05-queue-pair: what does a queue pair have to be told when it is created, and in which state does it begin?
//
// Verbs:   ibv_create_qp, ibv_query_qp, ibv_destroy_qp
// Run:     ./lab run 05
// Expect:  capabilities asked and granted; which types the device offers, each beginning in RESET; what is refused, by
//          which limit; what depth costs.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

// Enough for a first program. Not the device's maxima: those are not meant to be asked for together.
constexpr ibv_qp_cap modest{
    .max_send_wr = 100, .max_recv_wr = 100, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 64};

ibv_qp_init_attr init_attr(ibv_cq* cq, const ibv_qp_cap& cap) {
  ibv_qp_init_attr attr{};    // every field zero, also those that are not named below: this matters, see unset_field()
  attr.send_cq = cq;          // where sends complete,
  attr.recv_cq = cq;          // and receives: one CQ for both here; they may be two
  attr.qp_type = IBV_QPT_RC;  // reliable, and connected to one other QP
  attr.cap = cap;             // how deep the queues are, and how large one request may be
  attr.sq_sig_all = 0;        // 0: only sends that ask for it, and those that fail, give a completion; 1: all do
  return attr;
}

// The values that a QP says it has.
ibv_qp_attr query(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  lab::check_errno(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), "ibv_query_qp");
  return attr;
}

void capabilities(ibv_pd* pd, ibv_cq* cq) {
  ibv_qp_init_attr attr = init_attr(cq, modest);
  // The verb writes what it granted into the structure that it was given: attr.cap is not what was asked any more.
  const Qp qp{lab::check(ibv_create_qp(pd, &attr), "ibv_create_qp")};
  const ibv_qp_cap queried = query(qp.get()).cap;

  std::printf("                 asked  granted  queried\n");
  const auto row = [](const char* name, unsigned asked, unsigned granted, unsigned now) {
    std::printf("%-15s %6u %8u %8u\n", name, asked, granted, now);
  };
  row("max_send_wr", modest.max_send_wr, attr.cap.max_send_wr, queried.max_send_wr);
  row("max_recv_wr", modest.max_recv_wr, attr.cap.max_recv_wr, queried.max_recv_wr);
  row("max_send_sge", modest.max_send_sge, attr.cap.max_send_sge, queried.max_send_sge);
  row("max_recv_sge", modest.max_recv_sge, attr.cap.max_recv_sge, queried.max_recv_sge);
  row("max_inline_data", modest.max_inline_data, attr.cap.max_inline_data, queried.max_inline_data);
}

void types(ibv_pd* pd, ibv_cq* cq) {
  struct Type {
    ibv_qp_type type;
    const char* name;
  };
  std::printf("types:\n");
  for (const auto& [type, name] : {Type{IBV_QPT_RC, "RC"}, Type{IBV_QPT_UC, "UC"}, Type{IBV_QPT_UD, "UD"},
                                   Type{IBV_QPT_RAW_PACKET, "RAW_PACKET"}, Type{IBV_QPT_XRC_SEND, "XRC_SEND"}}) {
    ibv_qp_init_attr attr = init_attr(cq, modest);
    attr.qp_type = type;
    const Qp qp{ibv_create_qp(pd, &attr)};
    if (qp == nullptr) {
      // EPERM is for raw packets, which not everybody may send.
      const int reason = lab::check_refusal(errno, {EOPNOTSUPP, EINVAL, EPERM}, "ibv_create_qp", name);
      std::printf("  %-10s  %s\n", name, lab::errno_text(reason).c_str());
    } else {
      std::printf("  %-10s  QP number 0x%06x, state %s\n", name, qp->qp_num,
                  lab::qp_state_name(query(qp.get()).qp_state));
    }
  }
}

// The verb says EINVAL and no more. This says which of the capabilities is above which limit of the device.
std::string above_limit(const ibv_qp_cap& cap, const ibv_device_attr& device) {
  std::string text;
  const auto compare = [&text](const char* name, unsigned asked, const char* limit_name, int limit) {
    if (asked > static_cast<unsigned>(limit)) {
      text += (text.empty() ? "" : "; ") + std::string{name} + " " + std::to_string(asked) + " is above " + limit_name +
              " " + std::to_string(limit);
    }
  };
  compare("max_send_wr", cap.max_send_wr, "max_qp_wr", device.max_qp_wr);
  compare("max_recv_wr", cap.max_recv_wr, "max_qp_wr", device.max_qp_wr);
  compare("max_send_sge", cap.max_send_sge, "max_sge", device.max_sge);
  compare("max_recv_sge", cap.max_recv_sge, "max_sge", device.max_sge);
  return text;
}

// Creates and destroys a QP; 0, or the reason why the verb refused: too much of something.
int try_create(ibv_pd* pd, ibv_qp_init_attr attr) {
  const Qp qp{ibv_create_qp(pd, &attr)};
  return lab::check_refusal(qp == nullptr ? errno : 0, {EINVAL, ENOMEM}, "ibv_create_qp");
}

std::string answer(int reason) { return reason == 0 ? "granted" : lab::errno_text(reason); }

void limits(ibv_pd* pd, ibv_cq* cq, const ibv_device_attr& device) {
  std::printf("beyond the limits:\n");
  std::array<ibv_qp_cap, 3> caps{modest, modest, modest};
  caps[0].max_send_wr = static_cast<unsigned>(device.max_qp_wr) + 1;
  caps[1].max_recv_wr = static_cast<unsigned>(device.max_qp_wr) + 1;
  caps[2].max_send_sge = static_cast<unsigned>(device.max_sge) + 1;
  for (const ibv_qp_cap& cap : caps) {
    std::printf("  %s: %s\n", above_limit(cap, device).c_str(), answer(try_create(pd, init_attr(cq, cap))).c_str());
  }

  // No attribute of the device has the limit of max_inline_data. Ask for it: halve the distance between a size that is
  // granted and one that is refused.
  ibv_qp_cap cap = modest;
  unsigned granted = 0;
  unsigned refused = 1U << 20U;
  while (refused - granted > 1) {
    cap.max_inline_data = granted + (refused - granted) / 2;
    (try_create(pd, init_attr(cq, cap)) == 0 ? granted : refused) = cap.max_inline_data;
  }
  cap.max_inline_data = refused;
  std::printf("  max_inline_data %u is granted, %u: %s\n", granted, refused,
              answer(try_create(pd, init_attr(cq, cap))).c_str());
}

// What a variable on the stack can look like when it is not initialised; made on purpose here.
void unset_field(ibv_pd* pd, ibv_cq* cq) {
  ibv_qp_init_attr attr;
  std::memset(&attr, 0xa5, sizeof attr);
  attr.qp_context = nullptr;
  attr.srq = nullptr;
  attr.send_cq = cq;
  attr.recv_cq = cq;
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 0;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 16;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  // Forgotten: attr.cap.max_inline_data.
  const unsigned leftover = attr.cap.max_inline_data;
  std::printf("a field not set, max_inline_data is %u by chance: %s\n", leftover, answer(try_create(pd, attr)).c_str());
}

// The size of this process's address space: the first number of /proc/self/statm, in pages.
long address_space_kib() {
  long pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return pages * sysconf(_SC_PAGESIZE) / 1024;
}

void depth_costs(ibv_pd* pd, ibv_cq* cq, const ibv_device_attr& device) {
  for (const unsigned depth : {128U, std::min(4096U, static_cast<unsigned>(device.max_qp_wr))}) {
    std::vector<double> milliseconds(11);
    long kib = 0;
    for (double& result : milliseconds) {
      ibv_qp_cap cap = modest;
      cap.max_send_wr = cap.max_recv_wr = depth;
      ibv_qp_init_attr attr = init_attr(cq, cap);
      const long before = address_space_kib();
      const auto start = std::chrono::steady_clock::now();
      const Qp qp{lab::check(ibv_create_qp(pd, &attr), "ibv_create_qp", "depth " + std::to_string(depth))};
      result = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      kib = address_space_kib() - before;
    }
    std::printf("both queues %4u deep: %4ld KiB, created in %.1f ms (median)\n", depth, kib, lab::median(milliseconds));
  }
}

void queue_pair(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  ibv_device_attr attr{};
  lab::check_errno(ibv_query_device(device.context.get(), &attr), "ibv_query_device");

  // A QP needs a PD and a CQ, and has to go before them: made after them, it is destroyed before them.
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const int entries = static_cast<int>(modest.max_send_wr + modest.max_recv_wr);
  const lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), entries, nullptr, nullptr, 0), "ibv_create_cq")};

  capabilities(pd.get(), cq.get());
  types(pd.get(), cq.get());
  limits(pd.get(), cq.get(), attr);
  unset_field(pd.get(), cq.get());
  depth_costs(pd.get(), cq.get(), attr);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "05-queue-pair: capabilities, types, first state and limits of a queue pair",
                  {lab::Opt::ib_dev, lab::Opt::ib_port}, queue_pair);
}
