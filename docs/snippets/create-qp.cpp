// How do I create an RC QP, and see what was granted?

#include <infiniband/verbs.h>

#include <cerrno>
#include <system_error>

// `cap` goes in as what is wanted and comes out as what was granted, which is at least that.
ibv_qp* create_rc_qp(ibv_pd* pd, ibv_cq* send_cq, ibv_cq* recv_cq, ibv_qp_cap& cap) {
  ibv_qp_init_attr attr{};  // zeroed: a field that nobody has set must not be garbage
  attr.send_cq = send_cq;
  attr.recv_cq = recv_cq;
  attr.cap = cap;
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 0;  // each send says for itself whether it is signalled
  ibv_qp* const qp = ibv_create_qp(pd, &attr);
  if (qp == nullptr) {
    throw std::system_error(errno, std::generic_category(), "ibv_create_qp");
  }
  cap = attr.cap;
  return qp;
}
