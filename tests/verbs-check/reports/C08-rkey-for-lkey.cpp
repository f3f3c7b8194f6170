// The rkey of a memory region stands in an SGE. Soft-RoCE has one number for both; a device that has two refuses it.
// run: --strict
// says: which is the rkey of a memory region
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  loop.post_receive();
  ibv_sge from{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->rkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: lkey-unknown
  show("ibv_post_send", result);
  return 0;
}
