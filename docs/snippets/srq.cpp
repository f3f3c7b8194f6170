// How do I share receives among QPs, and fill them up in time?

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

ibv_srq* create_srq(ibv_pd* pd, std::uint32_t receives) {
  ibv_srq_init_attr attr{};
  attr.attr.max_wr = receives;
  attr.attr.max_sge = 1;
  ibv_srq* const srq = ibv_create_srq(pd, &attr);
  if (srq == nullptr) {
    throw std::system_error(errno, std::generic_category(), "ibv_create_srq");
  }
  return srq;  // for ibv_qp_init_attr::srq; ibv_destroy_srq after the QPs
}

void post_to_srq(ibv_srq* srq, std::uint64_t wr_id, void* memory, std::uint32_t length, const ibv_mr* mr) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory);
  piece.length = length;
  piece.lkey = mr->lkey;
  ibv_recv_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_srq_recv(srq, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_srq_recv");
  }
}

// One asynchronous event, IBV_EVENT_SRQ_LIMIT_REACHED, when fewer than `limit` receives are left. It comes once: fill
// up, then arm again.
void arm_srq_limit(ibv_srq* srq, std::uint32_t limit) {
  ibv_srq_attr attr{};
  attr.srq_limit = limit;
  if (const int error = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_modify_srq");
  }
}
