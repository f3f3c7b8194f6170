// How do I use a QP again that is in ERR?

#include <infiniband/verbs.h>

#include <span>
#include <system_error>

struct Step {
  ibv_qp_attr attr{};
  int mask = 0;
};

// From any state through RESET, and from there as the first time: to INIT, RTR and RTS. The peer must do the same with
// its QP. Poll the CQs empty before, and see that no buffer of a request is in use: RESET drops what is posted, without
// a completion.
void restart(ibv_qp* qp, std::span<Step> steps) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  if (const int error = ibv_modify_qp(qp, &attr, IBV_QP_STATE); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_modify_qp");
  }
  for (Step& step : steps) {
    if (const int error = ibv_modify_qp(qp, &step.attr, step.mask); error != 0) {
      throw std::system_error(error, std::generic_category(), "ibv_modify_qp");
    }
  }
}
