// How large must a completion queue be?

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

// A CQ that cannot overrun: an entry for every request that the QPs on it can hold, signalled or not, since a failed
// request always leaves a completion. For QPs that use it for sends and receives.
ibv_cq* create_cq_for(ibv_context* context, std::span<const ibv_qp_cap> qps, ibv_comp_channel* channel = nullptr) {
  std::uint64_t entries = 0;
  for (const ibv_qp_cap& cap : qps) {
    entries += std::uint64_t{cap.max_send_wr} + cap.max_recv_wr;
  }
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(context, &limits); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_query_device");
  }
  if (entries == 0 || entries > static_cast<std::uint64_t>(limits.max_cqe)) {
    throw std::invalid_argument("a CQ of " + std::to_string(entries) + " entries; the device offers 1 to " +
                                std::to_string(limits.max_cqe));
  }
  ibv_cq* const cq = ibv_create_cq(context, static_cast<int>(entries), nullptr, channel, 0);
  if (cq == nullptr) {
    throw std::system_error(errno, std::generic_category(), "ibv_create_cq");
  }
  return cq;  // cq->cqe is what was given: at least as many
}
