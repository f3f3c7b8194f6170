// How do I keep what I ask for within what the device can give?

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

// Cuts a wish down to the device's limits. Limits that are none of a QP, such as max_cqe and max_mr, are there as well.
ibv_qp_cap within_limits(ibv_context* context, ibv_qp_cap wish) {
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(context, &limits); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_query_device");
  }
  const auto requests = static_cast<std::uint32_t>(limits.max_qp_wr);
  const auto pieces = static_cast<std::uint32_t>(limits.max_sge);
  wish.max_send_wr = std::min(wish.max_send_wr, requests);
  wish.max_recv_wr = std::min(wish.max_recv_wr, requests);
  wish.max_send_sge = std::min(wish.max_send_sge, pieces);
  wish.max_recv_sge = std::min(wish.max_recv_sge, pieces);
  return wish;
}
