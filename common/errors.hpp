/// @file
/// @brief Turns what a verb answers into an exception that says what went wrong.
///
/// The verbs API reports failure in three main ways:
///  - a verb that makes something returns a pointer: NULL on failure, the reason in errno (ibv_open_device(3); most man
///  pages promise the NULL only);
///  - most other verbs return 0 or the errno *value itself*; errno may hold anything (ibv_modify_qp(3),
///  ibv_post_send(3));
///  - some, most of librdmacm, and the sockets API return -1 with the reason in errno (rdma_connect(3)).
///
/// One function for each, so that a call site says which convention its verb follows. The exceptions
/// (ibv_query_gid_table: -errno; rdma_getaddrinfo: EAI_ codes) are handled where they are called.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lab {

/// Something failed; what() is a whole message for the person at the terminal.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A verb or a system call failed.
class VerbError : public Error {
public:
  /// @param verb   the function that failed, for instance "ibv_create_qp"
  /// @param code   the errno value
  /// @param object what it was called for, for instance "CQ of 16 entries"; may be empty
  VerbError(std::string_view verb, int code, std::string_view object);

  /// @return the errno value; for a verb that returned NULL without setting errno, whatever stood there.
  [[nodiscard]] int code() const noexcept { return code_; }

  /// @return the function that failed
  [[nodiscard]] const std::string& verb() const noexcept { return verb_; }

private:
  std::string verb_;
  int code_;
};

/// An errno value as text.
/// @param code the value
/// @return "EINVAL (Invalid argument)"; "no reason given" for 0; for a number that is no errno value, the number
[[nodiscard]] std::string errno_text(int code);

/// Why a verb answers what it answers. A pure table look-up.
/// @param verb the function that failed
/// @param code the errno value
/// @return the usual reason, or an empty view where there is no usual one; valid for ever
[[nodiscard]] std::string_view likely_cause(std::string_view verb, int code);

/// For verbs that return a pointer. Ownership passes through unchanged: give the result to an Owned at once.
/// @tparam T    what the verb makes
/// @param result what the verb returned
/// @param verb   its name, for the message
/// @param object what it was called for, for the message; may be empty
/// @return `result`, which is not null
/// @throws VerbError with the value of errno when `result` is null
template <class T>
[[nodiscard]] T* check(T* result, std::string_view verb, std::string_view object = {}) {
  if (result == nullptr) {
    throw VerbError(verb, errno, object);
  }
  return result;
}

/// For verbs that return 0 or an errno value. errno is not looked at.
/// @param result what the verb returned
/// @param verb   its name, for the message
/// @param object what it was called for, for the message; may be empty
/// @throws VerbError with the value `result` when that is not 0
void check_errno(int result, std::string_view verb, std::string_view object = {});

/// For functions that return -1 and set errno.
/// @param result what the function returned
/// @param verb   its name, for the message
/// @param object what it was called for, for the message; may be empty
/// @return `result`, which is not -1
/// @throws VerbError with the value of errno when `result` is -1
int check_minus_one(int result, std::string_view verb, std::string_view object = {});

/// For a call that a program makes to see it refused, of a verb that returns 0 or an errno value.
/// @param result   what the verb returned
/// @param refusals the errno values with which it may refuse
/// @param verb     its name, for the message
/// @param object   what it was called for, for the message; may be empty
/// @return 0, or the errno value of the refusal
/// @throws VerbError for a value that is not among `refusals`: the verb has failed for another reason than the one
/// to be shown
int check_refusal(int result, std::initializer_list<int> refusals, std::string_view verb, std::string_view object = {});

/// For ibv_poll_cq(3).
/// @param result what it returned
/// @return how many completions there were
/// @throws Error for a negative number, which is no errno value and means that the completion queue is broken
int check_poll(int result);

/// A completion status as text.
/// @param status the status
/// @return "RNR_RETRY_EXC_ERR (13)": its name in infiniband/verbs.h, without IBV_WC_, and the number that tools print
[[nodiscard]] std::string status_text(ibv_wc_status status);

/// Why a completion has its status.
/// @param status the status
/// @return the usual reason, in one sentence; empty for success, and where there is no usual one; valid for ever
[[nodiscard]] std::string_view likely_cause(ibv_wc_status status);

/// A completion that is an error, as text. Reads wr_id, status, qp_num and vendor_err, the only fields that
/// ibv_poll_cq(3) defines when the status is not IBV_WC_SUCCESS.
/// @param completion the completion
/// @return one line, with the likely cause
[[nodiscard]] std::string describe_error(const ibv_wc& completion);

/// Accepts success only.
/// @param completion the completion
/// @throws Error with describe_error() unless the status is IBV_WC_SUCCESS
void check_completion(const ibv_wc& completion);

}  // namespace lab
