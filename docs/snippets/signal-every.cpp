// How do I ask for one completion in N sends?

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

// The sends of a QP, made with sq_sig_all 0, whose send CQ has no other use. `depth` is what was asked for as
// max_send_wr; `every` at most half of it is a good choice.
class Sends {
public:
  Sends(ibv_qp* qp, std::uint64_t depth, std::uint64_t every) : qp_{qp}, depth_{depth}, every_{every} {}

  // `last`: nothing follows soon, so this one tells about all before it.
  void post(ibv_send_wr request, bool last, std::chrono::steady_clock::time_point deadline) {
    while (posted_ - done_ == depth_) {
      reap(deadline);
    }
    request.next = nullptr;
    request.wr_id = posted_ + 1;  // a completion with this number: so many are done
    const bool signalled = last || request.wr_id % every_ == 0;
    request.send_flags = signalled ? request.send_flags | IBV_SEND_SIGNALED
                                   : request.send_flags & ~static_cast<unsigned>(IBV_SEND_SIGNALED);
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(qp_, &request, &refused); error != 0) {
      throw std::system_error(error, std::generic_category(), "ibv_post_send");
    }
    ++posted_;
  }

  // Waits until all are done, after one that was the last.
  void finish(std::chrono::steady_clock::time_point deadline) {
    while (done_ < posted_) {
      reap(deadline);
    }
  }

private:
  void reap(std::chrono::steady_clock::time_point deadline) {
    ibv_wc completion{};
    int count = 0;
    while ((count = ibv_poll_cq(qp_->send_cq, 1, &completion)) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("no completion before the deadline");
      }
    }
    if (count < 0 || completion.status != IBV_WC_SUCCESS) {
      throw std::runtime_error(count < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(completion.status));
    }
    done_ = completion.wr_id;  // sends end in order: all before it are done, too
  }

  ibv_qp* qp_;
  std::uint64_t depth_;
  std::uint64_t every_;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
};
