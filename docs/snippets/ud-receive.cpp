// How do I receive a datagram?

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <system_error>

// What the device writes in front of each datagram, or leaves free where the datagram had none.
constexpr std::size_t grh_size = sizeof(ibv_grh);  // 40

// `memory`: 40 bytes more than the longest datagram that is expected.
void post_datagram_receive(ibv_qp* qp, std::uint64_t wr_id, std::span<std::byte> memory, const ibv_mr* mr) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory.data());
  piece.length = static_cast<std::uint32_t>(memory.size());
  piece.lkey = mr->lkey;
  ibv_recv_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_recv");
  }
}

// The payload, once its completion has come.
std::span<const std::byte> datagram(std::span<const std::byte> memory, const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS || completion.byte_len < grh_size) {
    throw std::runtime_error(ibv_wc_status_str(completion.status));
  }
  return memory.subspan(grh_size, completion.byte_len - grh_size);  // byte_len counts the 40 as well
}
