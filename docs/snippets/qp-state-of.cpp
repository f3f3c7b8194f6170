// How do I see in which state a QP is?

#include <infiniband/verbs.h>

#include <system_error>

// What the device says. qp->state is what this process last set or queried, and does not follow when a request fails.
ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr created{};
  if (const int error = ibv_query_qp(qp, &attr, IBV_QP_STATE, &created); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_query_qp");
  }
  return attr.qp_state;
}
