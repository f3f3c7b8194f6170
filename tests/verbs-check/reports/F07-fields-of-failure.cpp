// An index that the peer sends as immediate data is taken from a completion, whose status nobody looks at.
// says: only wr_id, status, qp_num and vendor_err mean anything
#include "../programs/pair.hpp"

int main() {
  Pair pair;
  pair.connect_here();
  pair.connect_there();
  ibv_sge from{.addr = pair.outgoing(), .length = pair.half, .lkey = pair.mr->lkey};
  ibv_send_wr send{.wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &send, &bad));  // here: wc-rnr-retry-exc-err
  const ibv_wc completion = lab::wait_completion(pair.cq.get(), std::chrono::seconds{10}, "a completion");
  std::printf("index %u of %u bytes\n", completion.imm_data, completion.byte_len);
  return 0;
}
