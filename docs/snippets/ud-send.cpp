// How do I send a datagram?

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

// The way to the port with this GID, from the local GID at `gid_index`. ibv_destroy_ah gives it back, when no send
// that names it is outstanding.
ibv_ah* create_ah(ibv_pd* pd, std::uint8_t port, std::uint8_t gid_index, const ibv_gid& to, std::uint16_t lid = 0) {
  ibv_ah_attr attr{};
  attr.dlid = lid;  // on InfiniBand
  attr.port_num = port;
  attr.is_global = 1;
  attr.grh.dgid = to;
  attr.grh.sgid_index = gid_index;
  attr.grh.hop_limit = 64;
  ibv_ah* const ah = ibv_create_ah(pd, &attr);
  if (ah == nullptr) {
    throw std::system_error(errno, std::generic_category(), "ibv_create_ah");
  }
  return ah;
}

// One datagram: no longer than the port's active MTU.
void send_datagram(ibv_qp* qp, std::uint64_t wr_id, ibv_sge piece, ibv_ah* to, std::uint32_t qpn, std::uint32_t qkey) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = to;
  request.wr.ud.remote_qpn = qpn;
  request.wr.ud.remote_qkey = qkey;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
