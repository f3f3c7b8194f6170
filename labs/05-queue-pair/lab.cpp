// Lab 05: the deepest queue pair that the device grants. The task is in README.md.
//
//     ./lab check 05                 builds and checks this file
//     ./lab hint 05 1                a hint for step 1

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

// A QP with the CQ of both its queues, and what it was granted.
struct Pair {
  Cq cq;
  Qp qp;
  ibv_qp_cap granted{};
};

// Whether the device may grant a QP whose send queue and receive queue are both this deep, with one CQ that has an
// entry for each request. `depth` may be as large as 2^31 - 1.
bool is_within_limits(const ibv_device_attr& device, std::uint32_t depth) {
  // step 1
  static_cast<void>(device);
  static_cast<void>(depth);
  return true;
  // end of step 1
}

// Makes the CQ and an RC QP of this depth, one SGE a request, no inline data. Nothing, and nothing left behind, when
// ibv_create_qp answers ENOMEM or EINVAL: the device does not grant so much. Whatever else fails is an error.
std::optional<Pair> make_pair(ibv_context* context, ibv_pd* pd, std::uint32_t depth) {
  // step 2
  static_cast<void>(context);
  static_cast<void>(pd);
  static_cast<void>(depth);
  return {};
  // end of step 2
}

// Tries the wishes that are within the limits, the deepest first, up to the first one that is granted. Nothing when
// none is.
std::optional<Pair> make_deepest(ibv_context* context, ibv_pd* pd, const ibv_device_attr& device,
                                 std::vector<std::uint32_t> wishes) {
  // step 3
  // The order in which they were wished for, so far.
  for (const std::uint32_t depth : wishes) {
    if (is_within_limits(device, depth)) {
      return make_pair(context, pd, depth);
    }
  }
  return {};
  // end of step 3
}

std::uint32_t parse_depth(const std::string& word) {
  std::uint32_t depth = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, depth);
  if (error != std::errc{} || stop != end || depth == 0 || depth > std::numeric_limits<std::int32_t>::max()) {
    throw lab::Error{"'" + word + "' is no depth, a number from 1 to 2147483647"};
  }
  return depth;
}

void grant_wish(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  ibv_device_attr attr{};
  lab::check_errno(ibv_query_device(device.context.get(), &attr), "ibv_query_device");
  std::printf("limits: max_qp_wr %d, max_cqe %d\n", attr.max_qp_wr, attr.max_cqe);
  std::vector<std::uint32_t> wishes;
  for (const std::string& word : options.words) {
    wishes.push_back(parse_depth(word));
  }
  const Pd pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const auto pair = make_deepest(device.context.get(), pd.get(), attr, wishes);
  if (!pair) {
    throw lab::Error{"the device grants none of these wishes"};
  }
  const ibv_qp_cap& cap = pair->granted;
  std::printf("granted: max_send_wr %u, max_recv_wr %u, max_send_sge %u, max_recv_sge %u, max_inline_data %u\n",
              cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge, cap.max_recv_sge, cap.max_inline_data);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 05: the deepest of the queue pairs that are wished for",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::words}, grant_wish);
}
