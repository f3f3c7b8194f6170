// What the checker knows of events, and its waiting in place of a verb.
#include "events.hpp"
#include "wait.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <vector>

namespace {

using namespace verbs_check;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Addresses to tell objects apart.
std::array<char, 10> places;
const void* const cq = &places[0];
const void* const other = &places[1];
const void* const channel = &places[2];
const void* const elsewhere = &places[3];

TEST(VerbsCheckEvents, CountsWhatIsNotAcknowledgedPerQueue) {
  Events events;
  EXPECT_EQ(events.unacked(cq), 0U);
  events.got(cq, channel);
  events.got(cq, channel);
  events.got(other, channel);
  events.acked(other, 3);
  EXPECT_EQ(events.unacked(cq), 2U);
  EXPECT_EQ(events.unacked(other), 0U);
  events.acked(cq, 2);
  EXPECT_EQ(events.unacked(cq), 0U);
}

TEST(VerbsCheckEvents, AnArmingIsGoodForOneEvent) {
  Events events;
  EXPECT_FALSE(events.can_come(channel));
  events.armed(cq, channel, false);
  EXPECT_TRUE(events.can_come(channel));
  EXPECT_FALSE(events.can_come(elsewhere));
  EXPECT_EQ(events.waiting(channel), std::vector<const void*>{cq});
  events.got(cq, channel);
  EXPECT_FALSE(events.can_come(channel));
  EXPECT_TRUE(events.waiting(channel).empty());
  events.armed(other, channel, true);
  EXPECT_TRUE(events.can_come(channel));
  EXPECT_TRUE(events.waiting(channel).empty()) << "only solicited completions give an event";
}

TEST(VerbsCheckEvents, AnArmingOfAnArmedQueueAsksForNothingNew) {
  Events events;
  EXPECT_FALSE(events.is_armed(cq));
  events.armed(cq, channel, false);
  EXPECT_TRUE(events.is_armed(cq));
  EXPECT_FALSE(events.is_armed(other));
  events.armed(cq, channel, true);
  EXPECT_TRUE(events.is_solicited_only(cq));
  events.armed_in_vain(cq, false);
  EXPECT_TRUE(events.is_armed(cq));
  EXPECT_EQ(events.waiting(channel), std::vector<const void*>{cq}) << "it is armed for any completion, as before";
  events.got(cq, channel);
  EXPECT_FALSE(events.is_armed(cq));
  EXPECT_FALSE(events.can_come(channel)) << "one event for both";
}

TEST(VerbsCheckEvents, AnArmingThatHasFailedAsksForNothing) {
  Events events;
  events.armed(cq, channel, false);
  events.armed_in_vain(cq, false);
  EXPECT_FALSE(events.is_armed(cq));
  EXPECT_FALSE(events.can_come(channel));
  events.armed_in_vain(cq, false);  // the event has come meanwhile
  EXPECT_FALSE(events.is_armed(cq));
}

// Whether the first event has come before the second arming, only the caller can know: by itself the class counts both.
TEST(VerbsCheckEvents, AnotherArmingBeforeTheEventIsReadCountsToo) {
  Events events;
  events.armed(cq, channel, false);
  events.armed(cq, channel, false);
  events.got(cq, channel);
  EXPECT_TRUE(events.can_come(channel));
}

TEST(VerbsCheckEvents, AQueueThatIsTakenIsUnknownUntilItIsPutBack) {
  Events events;
  events.armed(cq, channel, false);
  events.got(cq, channel);
  events.armed(cq, channel, false);
  const Events::Queue taken = events.take(cq);
  EXPECT_FALSE(events.can_come(channel));
  EXPECT_EQ(events.unacked(cq), 0U);
  events.put(cq, taken);
  EXPECT_TRUE(events.can_come(channel));
  EXPECT_EQ(events.unacked(cq), 1U);
  events.forget(cq);
  EXPECT_EQ(events.unacked(cq), 0U);
}

TEST(VerbsCheckEvents, CountsAsynchronousEventsPerObject) {
  Events events;
  events.got_async(cq);
  events.got_async(cq);
  EXPECT_EQ(events.unacked_async(cq), 2U);
  EXPECT_EQ(events.unacked_async(other), 0U);
  events.acked_async(cq);
  events.acked_async(cq);
  events.acked_async(cq);
  EXPECT_EQ(events.unacked_async(cq), 0U);
  EXPECT_FALSE(events.is_async_read(channel));
  events.reads_async(channel);
  EXPECT_TRUE(events.is_async_read(channel));
}

class VerbsCheckWait : public testing::Test {
protected:
  VerbsCheckWait() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~VerbsCheckWait() override {
    signal(SIGALRM, SIG_DFL);
    close(ends_[0]);
    close(ends_[1]);
  }

  // A signal that is handled, after 50 ms.
  static void signal_soon(int flags) {
    handled_ = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { handled_ = 1; };
    action.sa_flags = flags;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 50'000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  std::array<int, 2> ends_{};
  static inline volatile sig_atomic_t handled_ = 0;
};

TEST_F(VerbsCheckWait, EndsWhenThereIsSomethingToRead) {
  ASSERT_EQ(write(ends_[1], "x", 1), 1);
  EXPECT_EQ(wait_readable(ends_[0], seconds{10}), Wait::ready);
}

TEST_F(VerbsCheckWait, EndsAfterTheTimeThatWasGiven) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_readable(ends_[0], milliseconds{100}), Wait::too_long);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{100});
}

TEST_F(VerbsCheckWait, IsInterruptedWhereARead2IsInterrupted) {
  signal_soon(0);
  EXPECT_EQ(wait_readable(ends_[0], seconds{10}), Wait::interrupted);
  EXPECT_EQ(handled_, 1);
}

TEST_F(VerbsCheckWait, GoesOnAfterAHandlerThatRestarts) {
  signal_soon(SA_RESTART);
  EXPECT_EQ(wait_readable(ends_[0], milliseconds{300}), Wait::too_long);
  EXPECT_EQ(handled_, 1);
}

TEST_F(VerbsCheckWait, LeavesTheSignalMaskAsItWas) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_EQ(wait_readable(ends_[0], milliseconds{1}), Wait::too_long);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

TEST_F(VerbsCheckWait, KnowsADescriptorThatBlocks) {
  EXPECT_TRUE(is_blocking(ends_[0]));
  EXPECT_FALSE(is_blocking(-1));
}

}  // namespace
