// The client asks for endless patience with rnr_retry_count 7, which is that of the server; its own is what the server
// has given to rdma_accept: none. The server has posted no receive before it accepts.
// says: the other end has no receive posted
// says: rnr_retry 0
#include "common/completion.hpp"

#include "../programs/cm.hpp"

#include <chrono>

int main() {
  Manager cm;
  cm.listen();
  cm.resolve();
  Manager::make_qp(cm.id);
  rdma_conn_param patient{.retry_count = 7, .rnr_retry_count = 7};
  lab::check_minus_one(rdma_connect(cm.id, &patient), "rdma_connect");
  cm.accept();
  ibv_send_wr request{.wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  const int result = ibv_post_send(cm.id->qp, &request, &bad);  // here: wc-rnr-retry-exc-err
  std::printf("ibv_post_send: %s\n", std::strerror(result));
  const ibv_wc completion = lab::wait_completion(cm.id->send_cq, std::chrono::seconds{5}, "a completion");
  std::printf("completion: %s\n", lab::status_text(completion.status).c_str());
  cm.finish();
  return 0;
}
