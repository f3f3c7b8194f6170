// How do I change a number in the peer's memory only if it is what I expect?

#include <infiniband/verbs.h>

#include <cstdint>
#include <stdexcept>
#include <system_error>

// If the 8 bytes at `to` are `expected`, they become `desired`. What was there before comes to `before`, which lies in
// `mr`: it was swapped if that is equal to `expected`.
void post_compare_and_swap(ibv_qp* qp, std::uint64_t wr_id, std::uint64_t* before, const ibv_mr* mr, std::uint64_t to,
                           std::uint32_t rkey, std::uint64_t expected, std::uint64_t desired) {
  if (to % 8 != 0) {
    throw std::invalid_argument("an atomic needs an address that is a multiple of 8");
  }
  ibv_sge result{};
  result.addr = reinterpret_cast<std::uintptr_t>(before);
  result.length = sizeof *before;
  result.lkey = mr->lkey;
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &result;
  request.num_sge = 1;
  request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.atomic.remote_addr = to;
  request.wr.atomic.rkey = rkey;
  request.wr.atomic.compare_add = expected;  // host byte order, all three
  request.wr.atomic.swap = desired;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
