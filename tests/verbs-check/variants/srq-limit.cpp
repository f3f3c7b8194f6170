// The limit of a shared receive queue is above its length.
// says: ibv_modify_srq has refused: EINVAL
// says: srq_limit 100 is above max_wr: 4
#include "../programs/srq.hpp"

int main() {
  const Srq srq;
  ibv_srq_attr limit{.srq_limit = 100};
  const int result = ibv_modify_srq(srq.srq, &limit, IBV_SRQ_LIMIT);  // here: srq-refused
  std::printf("ibv_modify_srq: %s\n", std::strerror(result));
  lab::check_errno(ibv_destroy_srq(srq.srq), "ibv_destroy_srq");
  return 0;
}
