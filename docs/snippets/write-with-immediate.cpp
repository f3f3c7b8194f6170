// How do I write to the peer's memory, and tell it so?

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <system_error>

// Uses up a receive of the peer, whose completion brings `number`. That receive needs no memory.
void post_write_with_number(ibv_qp* qp, std::uint64_t wr_id, ibv_sge from, std::uint64_t to, std::uint32_t rkey,
                            std::uint32_t number) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &from;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = htonl(number);
  request.wr.rdma.remote_addr = to;
  request.wr.rdma.rkey = rkey;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}

// A receive without memory, on the other side.
void post_empty_receive(ibv_qp* qp, std::uint64_t wr_id) {
  ibv_recv_wr request{};
  request.wr_id = wr_id;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_recv");
  }
}

// The number that came; none where the completion is another one, or an error.
std::optional<std::uint32_t> number_of(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS || completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
    return std::nullopt;
  }
  return ntohl(completion.imm_data);
}
