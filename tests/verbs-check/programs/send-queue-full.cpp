// Five RDMA writes to a send queue of four, and only the last one leaves a completion.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  constexpr int writes = 5;
  for (int i = 1; i <= writes; ++i) {
    request.wr_id = static_cast<std::uint64_t>(i);
#ifdef CORRECTED
    const bool signalled = i % 2 == 0 || i == writes;  // one in every half queue
#else
    const bool signalled = i == writes;
#endif
    request.send_flags = signalled ? IBV_SEND_SIGNALED : 0;
    const int result = ibv_post_send(loop.qp, &request, &bad);  // here: send-queue-full
    show("ibv_post_send", result);
    if (signalled && result == 0) {
      loop.show_completion();
    }
  }
  return 0;
}
