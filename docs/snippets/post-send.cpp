// How do I post a send?

#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// The `length` bytes at `memory`, which lies in `mr`, become one message of the peer.
void post_send(ibv_qp* qp, std::uint64_t wr_id, const void* memory, std::uint32_t length, const ibv_mr* mr) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory);
  piece.length = length;
  piece.lkey = mr->lkey;
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;  // without it a success leaves no completion
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
