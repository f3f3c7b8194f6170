// common/errors: the three ways in which the API says that something failed, and what the message tells.
#include "common/errors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace {

// What `call` throws, or a test failure when it throws nothing.
template <class Call>
lab::VerbError verb_error(Call call) {
  try {
    call();
  } catch (const lab::VerbError& error) {
    return error;
  }
  ADD_FAILURE() << "no VerbError was thrown";
  return {"none", EIO, {}};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST(Check, NullTakesTheReasonFromErrno) {
  const auto error = verb_error([] {
    errno = ENOMEM;
    static_cast<void>(lab::check(static_cast<int*>(nullptr), "ibv_alloc_pd"));
  });
  EXPECT_EQ(error.code(), ENOMEM);
}

TEST(Check, APointerPassesThroughWhateverErrnoSays) {
  int object = 0;
  errno = EINVAL;
  EXPECT_EQ(lab::check(&object, "ibv_alloc_pd"), &object);
}

TEST(CheckErrno, TheReturnedValueIsTheReasonAndErrnoIsNotLookedAt) {
  const auto error = verb_error([] {
    errno = EACCES;  // left over from something else
    lab::check_errno(EINVAL, "ibv_modify_qp");
  });
  EXPECT_EQ(error.code(), EINVAL);
  EXPECT_FALSE(contains(error.what(), "EACCES"));
}

TEST(CheckErrno, ZeroIsSuccessWhateverErrnoSays) {
  errno = EACCES;
  EXPECT_NO_THROW(lab::check_errno(0, "ibv_modify_qp"));
}

TEST(CheckMinusOne, MinusOneTakesTheReasonFromErrno) {
  const auto error = verb_error([] {
    errno = ECONNREFUSED;
    lab::check_minus_one(-1, "connect");
  });
  EXPECT_EQ(error.code(), ECONNREFUSED);
}

TEST(CheckMinusOne, OtherResultsPassThroughWhateverErrnoSays) {
  errno = ECONNREFUSED;
  EXPECT_EQ(lab::check_minus_one(0, "socket"), 0);
  EXPECT_EQ(lab::check_minus_one(7, "socket"), 7);
}

TEST(CheckRefusal, SuccessAndTheRefusalsThatWereMeantAreReturned) {
  EXPECT_EQ(lab::check_refusal(0, {EBUSY}, "ibv_dealloc_pd"), 0);
  EXPECT_EQ(lab::check_refusal(EBUSY, {EINVAL, EBUSY}, "ibv_dealloc_pd"), EBUSY);
}

TEST(CheckRefusal, AnyOtherFailureIsAnError) {
  const auto error = verb_error([] { lab::check_refusal(EIO, {EBUSY}, "ibv_dealloc_pd", "A"); });
  EXPECT_EQ(error.code(), EIO);
  EXPECT_EQ(error.verb(), "ibv_dealloc_pd");
  EXPECT_TRUE(contains(error.what(), "ibv_dealloc_pd: EIO (Input/output error), A"));
}

TEST(CheckPoll, ANegativeNumberIsAnErrorAndNotAnErrno) {
  EXPECT_EQ(lab::check_poll(0), 0);
  EXPECT_EQ(lab::check_poll(3), 3);
  try {
    lab::check_poll(-2);
    FAIL() << "no error";
  } catch (const lab::Error& error) {
    EXPECT_STREQ(error.what(), "ibv_poll_cq: it returned -2: the completion queue is broken");
  }
}

TEST(VerbError, NamesVerbErrnoObjectAndLikelyCauseInThisOrder) {
  const lab::VerbError error{"ibv_dealloc_pd", EBUSY, "PD of the server"};
  EXPECT_STREQ(error.what(),
               "ibv_dealloc_pd: EBUSY (Device or resource busy), PD of the server. Likely: a QP, MR, SRQ, "
               "AH, MW or WQ of this protection domain is still alive");
}

TEST(VerbError, LeavesOutWhatItDoesNotKnow) {
  EXPECT_STREQ((lab::VerbError{"ibv_nosuch", EINVAL, {}}.what()), "ibv_nosuch: EINVAL (Invalid argument)");
  EXPECT_STREQ((lab::VerbError{"ibv_dealloc_pd", ENOSPC, {}}.what()),
               "ibv_dealloc_pd: ENOSPC (No space left on device)");
  EXPECT_STREQ((lab::VerbError{"ibv_nosuch", EINVAL, "port 1"}.what()),
               "ibv_nosuch: EINVAL (Invalid argument), port 1");
}

TEST(VerbError, IsAnError) { EXPECT_THROW(lab::check_errno(EIO, "ibv_query_port"), lab::Error); }

TEST(VerbError, TheThreeChecksHandTheObjectOn) {
  errno = EIO;
  EXPECT_TRUE(
      contains(verb_error([] { static_cast<void>(lab::check(static_cast<int*>(nullptr), "v", "object 1")); }).what(),
               "object 1"));
  EXPECT_TRUE(contains(verb_error([] { lab::check_errno(EIO, "v", "object 2"); }).what(), "object 2"));
  EXPECT_TRUE(contains(verb_error([] { lab::check_minus_one(-1, "v", "object 3"); }).what(), "object 3"));
}

TEST(ErrnoText, NameAndText) { EXPECT_EQ(lab::errno_text(EINVAL), "EINVAL (Invalid argument)"); }

TEST(ErrnoText, ANumberThatIsNoErrnoStaysANumber) {
  EXPECT_EQ(lab::errno_text(9999), "error 9999");
  EXPECT_EQ(lab::errno_text(-1), "error -1");
  EXPECT_EQ(lab::errno_text(-EINVAL), "error -22");
}

TEST(LikelyCause, KnowsTheVerbAndTheErrnoTogether) {
  EXPECT_TRUE(contains(lab::likely_cause("ibv_reg_mr", ENOMEM), "RLIMIT_MEMLOCK"));
  EXPECT_TRUE(contains(lab::likely_cause("ibv_reg_mr", EINVAL), "LOCAL_WRITE"));
  EXPECT_NE(lab::likely_cause("ibv_post_send", ENOMEM), lab::likely_cause("ibv_post_recv", ENOMEM));
  EXPECT_TRUE(lab::likely_cause("ibv_reg_mr", EPIPE).empty());
  EXPECT_TRUE(lab::likely_cause("ibv_reg", ENOMEM).empty());
  EXPECT_TRUE(lab::likely_cause("", ENOMEM).empty());
}

// Status numbers are part of the interface: tools print them, and so must we.
struct Status {
  ibv_wc_status status;
  const char* text;
};
constexpr std::array statuses{
    Status{IBV_WC_SUCCESS, "SUCCESS (0)"},
    Status{IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR (1)"},
    Status{IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR (2)"},
    Status{IBV_WC_LOC_EEC_OP_ERR, "LOC_EEC_OP_ERR (3)"},
    Status{IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR (4)"},
    Status{IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR (5)"},
    Status{IBV_WC_MW_BIND_ERR, "MW_BIND_ERR (6)"},
    Status{IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR (7)"},
    Status{IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR (8)"},
    Status{IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR (9)"},
    Status{IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR (10)"},
    Status{IBV_WC_REM_OP_ERR, "REM_OP_ERR (11)"},
    Status{IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR (12)"},
    Status{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR (13)"},
    Status{IBV_WC_LOC_RDD_VIOL_ERR, "LOC_RDD_VIOL_ERR (14)"},
    Status{IBV_WC_REM_INV_RD_REQ_ERR, "REM_INV_RD_REQ_ERR (15)"},
    Status{IBV_WC_REM_ABORT_ERR, "REM_ABORT_ERR (16)"},
    Status{IBV_WC_INV_EECN_ERR, "INV_EECN_ERR (17)"},
    Status{IBV_WC_INV_EEC_STATE_ERR, "INV_EEC_STATE_ERR (18)"},
    Status{IBV_WC_FATAL_ERR, "FATAL_ERR (19)"},
    Status{IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR (20)"},
    Status{IBV_WC_GENERAL_ERR, "GENERAL_ERR (21)"},
};

TEST(StatusText, EveryStatusOfTheHeaderByNameAndNumber) {
  for (const Status& status : statuses) {
    EXPECT_EQ(lab::status_text(status.status), status.text);
  }
}

TEST(StatusText, AStatusFromANewerLibraryStaysANumber) {
  EXPECT_EQ(lab::status_text(static_cast<ibv_wc_status>(31)), "status (31)");
}

// An error completion whose undefined fields hold garbage, a different one for each `poison`.
ibv_wc poisoned(ibv_wc_status status, int poison) {
  ibv_wc completion;
  std::memset(&completion, poison, sizeof completion);
  completion.wr_id = 42;
  completion.status = status;
  completion.qp_num = 17;
  completion.vendor_err = 0x8a;
  return completion;
}

TEST(DescribeError, ReadsOnlyTheFourDefinedFields) {
  for (const Status& status : statuses) {
    const std::string text = lab::describe_error(poisoned(status.status, 0x00));
    EXPECT_EQ(text, lab::describe_error(poisoned(status.status, 0xff)));
    const std::string start = std::string{"completion with "} + status.text + ", wr_id 42, QP 17, vendor_err 0x8a";
    EXPECT_EQ(text.substr(0, start.size()), start);
  }
}

TEST(DescribeError, AddsTheLikelyCauseWhereThereIsOne) {
  EXPECT_EQ(lab::describe_error(poisoned(IBV_WC_RNR_RETRY_EXC_ERR, 0)),
            "completion with RNR_RETRY_EXC_ERR (13), wr_id 42, QP 17, vendor_err 0x8a. Likely: the peer has no receive "
            "posted");
  EXPECT_EQ(lab::describe_error(poisoned(IBV_WC_GENERAL_ERR, 0)),
            "completion with GENERAL_ERR (21), wr_id 42, QP 17, vendor_err 0x8a");
  EXPECT_TRUE(lab::likely_cause(IBV_WC_SUCCESS).empty());
}

TEST(CheckCompletion, ThrowsForEveryStatusButSuccess) {
  for (const Status& status : statuses) {
    if (status.status == IBV_WC_SUCCESS) {
      EXPECT_NO_THROW(lab::check_completion(poisoned(status.status, 0xff)));
    } else {
      EXPECT_THROW(lab::check_completion(poisoned(status.status, 0xff)), lab::Error) << status.text;
    }
  }
}

}  // namespace
