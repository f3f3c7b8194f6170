// How do I read the peer's memory?

#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// `into` must be memory registered with LOCAL_WRITE. What it holds is there when the completion has come.
void post_read(ibv_qp* qp, std::uint64_t wr_id, ibv_sge into, std::uint64_t from, std::uint32_t rkey) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &into;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = from;
  request.wr.rdma.rkey = rkey;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
