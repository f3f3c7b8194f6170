// How do I drain a QP before I free its buffers?

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <system_error>

constexpr std::uint64_t drain_mark = ~std::uint64_t{0};  // a wr_id that no other request has

// Moves the QP to ERR and hands out completions until no request of it is left. For a QP without SRQ, each of whose
// queues has room for one more request.
void drain(ibv_qp* qp, const std::function<void(const ibv_wc&)>& handle,
           std::chrono::steady_clock::time_point deadline) {
  const auto fail = [](int error, const char* verb) {
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), verb);
    }
  };
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  fail(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
  // A queue keeps its order: when the mark has come back, all before it have.
  ibv_send_wr send{.wr_id = drain_mark, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* refused_send = nullptr;
  fail(ibv_post_send(qp, &send, &refused_send), "ibv_post_send");
  ibv_recv_wr receive{.wr_id = drain_mark};
  ibv_recv_wr* refused_receive = nullptr;
  fail(ibv_post_recv(qp, &receive, &refused_receive), "ibv_post_recv");
  // Once more: Soft-RoCE flushes a receive that was posted in ERR only now.
  fail(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
  for (int marks = 0; marks < 2;) {
    for (ibv_cq* const cq : {qp->send_cq, qp->recv_cq}) {
      ibv_wc completion{};
      const int count = ibv_poll_cq(cq, 1, &completion);
      if (count < 0 || (count == 0 && std::chrono::steady_clock::now() > deadline)) {
        throw std::runtime_error(count < 0 ? "ibv_poll_cq failed" : "the QP was not drained before the deadline");
      }
      if (count > 0 && completion.wr_id == drain_mark && completion.qp_num == qp->qp_num) {
        ++marks;
      } else if (count > 0) {
        handle(completion);
      }
    }
  }
}
