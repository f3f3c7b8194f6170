// How do I post many requests in one call?

#include <infiniband/verbs.h>

#include <cstddef>
#include <span>

struct Posted {
  std::size_t count = 0;  // so many, from the first on, are in the queue
  int error = 0;          // why the next one was refused; 0: all were taken
};

// Posts all, or those before the first that is refused.
Posted post_all(ibv_qp* qp, std::span<ibv_recv_wr> requests) {
  if (requests.empty()) {
    return {};
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].next = i + 1 < requests.size() ? &requests[i + 1] : nullptr;
  }
  ibv_recv_wr* refused = nullptr;
  const int error = ibv_post_recv(qp, requests.data(), &refused);
  if (error == 0) {
    return {.count = requests.size()};
  }
  return {.count = static_cast<std::size_t>(refused - requests.data()), .error = error};
}
