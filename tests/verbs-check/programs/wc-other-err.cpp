// A status that has no page of its own. It is not the program that fails but the device, and the test lets it.
// run wrong: --fail-completion 1=FATAL_ERR
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{.wr_id = 1,
                      .sg_list = &from,
                      .num_sge = 1,
                      .opcode = IBV_WR_RDMA_WRITE,
                      .send_flags = IBV_SEND_SIGNALED,
                      .wr = {.rdma = {.remote_addr = loop.incoming(), .rkey = loop.mr->rkey}}};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: wc-other-err
  show("ibv_post_send", result);
  const ibv_wc completion = lab::wait_completion(loop.cq.get(), std::chrono::seconds{5}, "a completion");
  std::printf("completion: %s, vendor_err %u\n", lab::status_text(completion.status).c_str(), completion.vendor_err);
  return 0;
}
