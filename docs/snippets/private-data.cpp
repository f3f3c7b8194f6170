// How do I send a few bytes along with the connection request?

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

constexpr std::size_t most_private_data = 56;  // in a request over InfiniBand or RoCE

// For rdma_connect, or for rdma_accept to answer. `bytes` must stay until that call.
void set_private_data(rdma_conn_param& param, std::span<const std::byte> bytes) {
  if (bytes.size() > most_private_data) {
    throw std::length_error("private data of more than 56 bytes");
  }
  param.private_data = bytes.data();
  param.private_data_len = static_cast<std::uint8_t>(bytes.size());
}

// A copy of what came with RDMA_CM_EVENT_CONNECT_REQUEST or, at the client, ESTABLISHED. Before rdma_ack_cm_event,
// which frees the event. There may be zeros behind what the peer has sent: put the length, or a fixed format, into it.
std::vector<std::byte> private_data_of(const rdma_cm_event& event) {
  const rdma_conn_param& param = event.param.conn;
  if (param.private_data == nullptr) {
    return {};
  }
  const auto* const bytes = static_cast<const std::byte*>(param.private_data);
  return {bytes, bytes + param.private_data_len};
}
