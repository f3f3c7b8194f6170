// How do I send a few bytes without a memory region?

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

// At most as many bytes as ibv_create_qp has granted in cap.max_inline_data. They are copied now.
void send_inline(ibv_qp* qp, std::uint64_t wr_id, std::span<const std::byte> bytes) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(bytes.data());
  piece.length = static_cast<std::uint32_t>(bytes.size());
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
