// How do I post a receive?

#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// For one message of at most `length` bytes, written to `memory`, which lies in `mr`.
void post_receive(ibv_qp* qp, std::uint64_t wr_id, void* memory, std::uint32_t length, const ibv_mr* mr) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory);
  piece.length = length;
  piece.lkey = mr->lkey;
  ibv_recv_wr request{};
  request.wr_id = wr_id;  // comes back in the completion
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_recv");
  }
}
