// The PD belongs to a context that the program has opened itself: that is another one than the cm_id has.
#include "cm.hpp"

int main() {
  Manager cm;
  cm.resolve();
  const lab::Device device = lab::open_device({});
#ifdef CORRECTED
  ibv_context* const context = cm.id->verbs;
#else
  ibv_context* const context = device.context.get();
#endif
  ibv_pd* const pd = lab::check(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_qp_init_attr attr{.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const int result = rdma_create_qp(cm.id, pd, &attr);  // here: cm-qp-other-device
  show("rdma_create_qp", result);
  if (result == 0) {
    rdma_destroy_qp(cm.id);
  }
  ibv_dealloc_pd(pd);
  cm.finish();
  return 0;
}
