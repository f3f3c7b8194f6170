// A CQ is made larger, which is counted; then it shall have more entries than the device offers.
// says: ibv_resize_cq has refused: EINVAL for 16777216 entries
// says: max_cqe of the device is
#include "../programs/loop.hpp"

int main() {
  Loop loop;
  const lab::Owned<ibv_cq, ibv_destroy_cq> small{
      lab::check(ibv_create_cq(loop.device.context.get(), 1, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr attr{.send_cq = small.get(),
                        .recv_cq = small.get(),
                        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  loop.use(lab::check(ibv_create_qp(loop.pd.get(), &attr), "ibv_create_qp"));
  show("ibv_resize_cq", ibv_resize_cq(small.get(), 4));
  loop.connect();
  loop.post_receive();
  loop.post_receive();                                         // no cq-overrun: there is room for four
  show("ibv_resize_cq", ibv_resize_cq(small.get(), 1 << 24));  // here: cq-refused
  loop.owner.reset();
  return 0;
}
