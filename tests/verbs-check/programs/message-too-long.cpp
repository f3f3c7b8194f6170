// A write that is one byte longer than a message of the port may be.
#include "loop.hpp"

#include <algorithm>
#include <vector>

int main() {
  Loop loop;
  loop.connect();
  const std::uint32_t most = loop.device.port_attr.max_msg_sz;
  const std::uint32_t all = most + 1;
  std::vector<char> data(2 * std::size_t{all});  // the second half is the peer's
  const Loop::Mr mr{
      lab::check(ibv_reg_mr(loop.pd.get(), data.data(), data.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                 "ibv_reg_mr")};
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(data.data());
#ifdef CORRECTED
  const std::uint32_t part = most;
#else
  const std::uint32_t part = all;
#endif
  for (std::uint32_t done = 0; done < all; done += part) {
    ibv_sge from{.addr = begin + done, .length = std::min(part, all - done), .lkey = mr->lkey};
    ibv_send_wr request{.wr_id = 2,
                        .sg_list = &from,
                        .num_sge = 1,
                        .opcode = IBV_WR_RDMA_WRITE,
                        .send_flags = IBV_SEND_SIGNALED,
                        .wr = {.rdma = {.remote_addr = begin + all + done, .rkey = mr->rkey}}};
    ibv_send_wr* bad = nullptr;
    const int result = ibv_post_send(loop.qp, &request, &bad);  // here: message-too-long
    show("ibv_post_send", result);
    loop.show_completion();
  }
  return 0;
}
