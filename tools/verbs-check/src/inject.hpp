// Making a verb fail on purpose: --fail VERB[:N]=ERRNO. Pure but for the counting.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace verbs_check {

// What --fail asks for, one of these a verb.
struct Failure {
  std::uint64_t at = 1;  // the how-manieth call; 0: every call
  int code = 0;          // the errno value
};

class Injector {
public:
  // Reads "ibv_create_qp=ENOMEM", "ibv_reg_mr:3=EINVAL", "ibv_post_send:every=12"; several with commas between.
  // Returns what is wrong with the text, or nothing.
  std::string parse(std::string_view text);

  // Nothing shall fail.
  [[nodiscard]] bool is_idle() const { return wanted_.empty(); }

  // The errno value with which this call shall fail, or 0. Counts the call.
  int next(std::string_view verb);

private:
  std::map<std::string, Failure, std::less<>> wanted_;
  std::map<std::string, std::uint64_t, std::less<>> calls_;
};

// Making a completion fail on purpose: --fail-completion N=STATUS.
class CompletionInjector {
public:
  // Reads "3=RETRY_EXC_ERR", "every=12", "1=IBV_WC_WR_FLUSH_ERR"; several with commas between. Returns what is wrong
  // with the text, or nothing.
  std::string parse(std::string_view text);

  // The status for this completion, which has succeeded; IBV_WC_SUCCESS to leave it. Counts it.
  ibv_wc_status next();

private:
  std::map<std::uint64_t, ibv_wc_status> wanted_;  // 0: every
  std::uint64_t completions_ = 0;
};

// The status of "RETRY_EXC_ERR", "IBV_WC_RETRY_EXC_ERR" or "12"; IBV_WC_SUCCESS for what is no failure.
[[nodiscard]] ibv_wc_status status_value(std::string_view text);

// The errno value of "ENOMEM" or "12"; 0 for what is neither.
[[nodiscard]] int errno_value(std::string_view text);

}  // namespace verbs_check
