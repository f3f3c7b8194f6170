// How do I poll in a thread of its own?

#include <infiniband/verbs.h>

#include <functional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

// Hands each completion of the CQ to `handle`, in a thread, until the object goes. It must go before the CQ does.
class Poller {
public:
  Poller(ibv_cq* cq, std::function<void(const ibv_wc&)> handle)
      : thread_{[cq, handle = std::move(handle)](const std::stop_token& stop) {
          ibv_wc completion{};
          while (!stop.stop_requested()) {
            const int count = ibv_poll_cq(cq, 1, &completion);
            if (count > 0) {
              handle(completion);  // an exception in this thread ends the program
            } else if (count < 0) {
              throw std::runtime_error("ibv_poll_cq failed: the completion queue is broken");
            } else {
              std::this_thread::yield();
            }
          }
        }} {}

private:
  std::jthread thread_;  // its destructor asks the thread to stop and waits for it
};
