// How do I read a completion that is an error?

#include <infiniband/verbs.h>

#include <stdexcept>
#include <string>

// Throws unless the request has succeeded. Of a failed completion only these four fields mean anything.
void require_success(const ibv_wc& completion) {
  if (completion.status == IBV_WC_SUCCESS) {
    return;
  }
  throw std::runtime_error("request " + std::to_string(completion.wr_id) + " of QP " +
                           std::to_string(completion.qp_num) + ": " + ibv_wc_status_str(completion.status) + " (" +
                           std::to_string(completion.status) + "), vendor_err " +
                           std::to_string(completion.vendor_err));
}
