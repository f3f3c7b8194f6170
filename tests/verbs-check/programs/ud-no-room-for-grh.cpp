// A receive of a UD QP that has room for the message alone.
#include "ud.hpp"

int main() {
  Ud loop;
  constexpr std::uint32_t message = 32;
#ifdef CORRECTED
  ibv_sge room = loop.room(40 + message);
#else
  ibv_sge room = loop.room(message);
#endif
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &room, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  const int result = ibv_post_recv(loop.qp, &receive, &bad_receive);  // here: ud-no-room-for-grh
  show("ibv_post_recv", result);
  ibv_sge from = loop.message(message);
  ibv_send_wr request = loop.datagram(&from);
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  loop.show_completion_or_none();
  loop.show_completion_or_none();
  return 0;
}
