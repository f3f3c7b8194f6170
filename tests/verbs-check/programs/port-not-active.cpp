// The device is chosen by its place in the list, and its port is down.
#include "common/device.hpp"
#include "common/errors.hpp"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

// A second device, on an interface that is down: that of a network namespace of this process, with which both go away.
void add_idle_device() {
  lab::check_minus_one(unshare(CLONE_NEWNET), "unshare");
  if (std::system("rdma link add idle0 type rxe netdev lo") != 0) {
    throw lab::Error{"there is no second device: rdma link add has failed"};
  }
}

#ifdef CORRECTED
// The first device whose port 1 is active.
bool is_wanted(ibv_device* device) {
  const lab::Owned<ibv_context, ibv_close_device> context{lab::check(ibv_open_device(device), "ibv_open_device")};
  ibv_port_attr port{};
  lab::check_errno(ibv_query_port(context.get(), 1, &port), "ibv_query_port");
  return port.state == IBV_PORT_ACTIVE;
}
#else
// Stands for the place at which it happens to be on this machine.
bool is_wanted(ibv_device* device) { return std::string_view{ibv_get_device_name(device)} == "idle0"; }
#endif

int main() {
  add_idle_device();
  const lab::Owned<ibv_device*, ibv_free_device_list> list{
      lab::check(ibv_get_device_list(nullptr), "ibv_get_device_list")};
  ibv_device** device = list.get();
  while (!is_wanted(*device)) {
    ++device;
  }
  const lab::Owned<ibv_context, ibv_close_device> context{lab::check(ibv_open_device(*device), "ibv_open_device")};
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
  const lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(context.get(), 4, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr init{.send_cq = cq.get(),
                        .recv_cq = cq.get(),
                        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};
  ibv_qp_attr attr{.qp_state = IBV_QPS_INIT, .port_num = 1};
  const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  const int result = ibv_modify_qp(qp.get(), &attr, mask);  // here: port-not-active
  std::printf("ibv_modify_qp: %s\n", result == 0 ? "done" : std::strerror(result));
  return result == 0 ? 0 : 1;
}
