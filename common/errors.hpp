/// @file
/// Turns what a verb answers into an exception that says what went wrong.
///
/// The verbs API reports failure in three main ways, and each man page says which one its verb uses:
///  - a verb that makes something returns a pointer: NULL on failure, the reason in errno (ibv_open_device(3));
///  - most other verbs return 0 or the errno *value itself*; errno may hold anything (ibv_modify_qp(3),
///  ibv_post_send(3));
///  - some, most of librdmacm, and the sockets API return -1 with the reason in errno (rdma_connect(3)).
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

  /// The errno value; for a verb that returned NULL without setting errno, whatever stood there.
  [[nodiscard]] int code() const noexcept { return code_; }

  /// The function that failed.
  [[nodiscard]] const std::string& verb() const noexcept { return verb_; }

private:
  std::string verb_;
  int code_;
};

/// "EINVAL (Invalid argument)"; "no reason given" for 0; for a number that is no errno value, the number.
[[nodiscard]] std::string errno_text(int code);

/// The usual reason why `verb` answers `code`, or an empty view where there is no usual one. A pure table look-up.
[[nodiscard]] std::string_view likely_cause(std::string_view verb, int code);

/// For verbs that return a pointer: returns it, or throws VerbError from errno when it is null.
/// Ownership passes through unchanged: give the result to an Owned at once.
template <class T>
[[nodiscard]] T* check(T* result, std::string_view verb, std::string_view object = {}) {
  if (result == nullptr) {
    throw VerbError(verb, errno, object);
  }
  return result;
}

/// For verbs that return 0 or an errno value: throws VerbError from the returned value. errno is not looked at.
void check_errno(int result, std::string_view verb, std::string_view object = {});

/// For functions that return -1 and set errno: returns the result, or throws VerbError from errno.
int check_minus_one(int result, std::string_view verb, std::string_view object = {});

/// For a call that a program makes to see it refused: returns 0, or the errno value of the refusal. Throws VerbError
/// for any value that is not among `refusals`: then the verb has failed for another reason than the one to be shown.
int check_refusal(int result, std::initializer_list<int> refusals, std::string_view verb, std::string_view object = {});

/// For ibv_poll_cq(3): returns how many completions there were. Throws Error for a negative number, which is no errno
/// value and means that the completion queue is broken.
int check_poll(int result);

/// "RNR_RETRY_EXC_ERR (13)": the status under its name in <infiniband/verbs.h>, without IBV_WC_, and the number that
/// tools print.
[[nodiscard]] std::string status_text(ibv_wc_status status);

/// The usual reason for a completion status, in one sentence; empty for success.
[[nodiscard]] std::string_view likely_cause(ibv_wc_status status);

/// One line about a completion that is an error. Reads wr_id, status, qp_num and vendor_err, the only fields that
/// ibv_poll_cq(3) defines when the status is not IBV_WC_SUCCESS.
[[nodiscard]] std::string describe_error(const ibv_wc& completion);

/// Throws Error with describe_error() unless the completion's status is IBV_WC_SUCCESS.
void check_completion(const ibv_wc& completion);

}  // namespace lab
