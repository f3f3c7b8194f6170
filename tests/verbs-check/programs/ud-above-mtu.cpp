// A datagram of 1500 bytes, where a packet carries 1024.
#include "ud.hpp"

#include "common/units.hpp"

#include <algorithm>

int main() {
  Ud loop;
  ibv_sge room = loop.room(40 + 1500);
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &room, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  lab::check_errno(ibv_post_recv(loop.qp, &receive, &bad_receive), "ibv_post_recv");
#ifdef CORRECTED
  const std::uint32_t length = std::min(1500U, lab::mtu_bytes(loop.device.port_attr.active_mtu));
#else
  const std::uint32_t length = 1500;
#endif
  ibv_sge from = loop.message(length);
  ibv_send_wr request = loop.datagram(&from);
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(loop.qp, &request, &bad);  // here: ud-above-mtu
  show("ibv_post_send", result);
  loop.show_completion_or_none();
  loop.show_completion_or_none();
  return 0;
}
