// The PD and send_cq are of the context of the cm_id, recv_cq is not: that one is named, and nothing else is said.
// says: rdma_create_qp with a CQ of another context than that of the cm_id
// says: CQ #2 (made in main, cm-cq-other-context.cpp
// says: or makes the QP with another CQ
#include "../programs/cm.hpp"

int main() {
  Manager cm;
  cm.resolve();
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_cq, ibv_destroy_cq> send_cq{
      lab::check(ibv_create_cq(cm.id->verbs, 4, nullptr, nullptr, 0), "ibv_create_cq")};
  const lab::Owned<ibv_cq, ibv_destroy_cq> recv_cq{
      lab::check(ibv_create_cq(device.context.get(), 4, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr attr{.send_cq = send_cq.get(),
                        .recv_cq = recv_cq.get(),
                        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const int result = rdma_create_qp(cm.id, nullptr, &attr);  // here: cm-qp-other-device
  show("rdma_create_qp", result);
  if (result == 0) {
    rdma_destroy_qp(cm.id);
  }
  cm.finish();
  return 0;
}
