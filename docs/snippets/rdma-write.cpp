// How do I write to the peer's memory?

#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// `to` and `rkey` are what the peer has told. Its program is not told that anything has come.
void post_write(ibv_qp* qp, std::uint64_t wr_id, ibv_sge from, std::uint64_t to, std::uint32_t rkey) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &from;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = to;
  request.wr.rdma.rkey = rkey;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
