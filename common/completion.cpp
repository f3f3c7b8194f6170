#include "common/completion.hpp"

#include "common/deadline.hpp"
#include "common/errors.hpp"

#include <string>

namespace lab {

ibv_wc wait_completion(ibv_cq* cq, std::chrono::seconds patience, const char* waiting_for) {
  const Deadline deadline{patience};
  ibv_wc completion{};
  while (true) {
    if (check_poll(ibv_poll_cq(cq, 1, &completion)) > 0) {
      return completion;
    }
    if (deadline.passed()) {
      throw Error("the peer is silent: waited " + std::to_string(patience.count()) + " s for " + waiting_for);
    }
  }
}

}  // namespace lab
