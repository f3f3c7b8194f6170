// How do I send a message from several places, and receive it into several?

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <system_error>

// The pieces one after the other are the message. Each may lie in a memory region of its own.
void send_from(ibv_qp* qp, std::uint64_t wr_id, std::span<ibv_sge> pieces) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());  // at most cap.max_send_sge
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}

// The message fills the first piece, then the second, and so on. An empty list takes a message of 0 bytes.
void receive_into(ibv_qp* qp, std::uint64_t wr_id, std::span<ibv_sge> pieces) {
  ibv_recv_wr request{};
  request.wr_id = wr_id;
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_recv");
  }
}
