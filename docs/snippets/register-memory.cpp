// How do I register memory with no more rights than its use needs?

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

// What the memory is for. Uses can be combined: access_for(a) | access_for(b).
enum class Use { send_from, receive_into, read_into, peer_reads, peer_writes, peer_atomics };

unsigned access_for(Use use) {
  switch (use) {
    case Use::send_from:
      return 0;  // the device may always read: sends and RDMA writes need no more
    case Use::receive_into:
    case Use::read_into:
      return IBV_ACCESS_LOCAL_WRITE;  // receives, RDMA reads and atomics are written here by the own device
    case Use::peer_reads:
      return IBV_ACCESS_REMOTE_READ;
    case Use::peer_writes:
      return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;  // the one is refused without the other
    case Use::peer_atomics:
      return IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
  }
  return 0;
}

// ibv_dereg_mr gives it back; the memory must stay until then.
ibv_mr* register_memory(ibv_pd* pd, std::span<std::byte> memory, unsigned access) {
  ibv_mr* const mr = ibv_reg_mr(pd, memory.data(), memory.size(), access);
  if (mr == nullptr) {
    throw std::system_error(errno, std::generic_category(), "ibv_reg_mr");
  }
  return mr;
}
