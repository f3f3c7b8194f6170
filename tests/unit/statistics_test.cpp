// common/statistics: the nearest-rank percentile, against values that can be counted by hand.
#include "common/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Percentile, OfOneValueIsThatValue) {
  for (const double percent : {0.1, 1.0, 50.0, 99.0, 100.0}) {
    EXPECT_EQ(lab::percentile({7.5}, percent), 7.5) << percent;
  }
}

TEST(Percentile, OfTwoValues) {
  EXPECT_EQ(lab::percentile({1, 2}, 50), 1);
  EXPECT_EQ(lab::percentile({1, 2}, 50.1), 2);
  EXPECT_EQ(lab::percentile({1, 2}, 99), 2);
  EXPECT_EQ(lab::percentile({1, 2}, 100), 2);
}

// Among 1, 2, ... 100 the p-th percentile is p itself: no rounding may push it to a neighbour.
TEST(Percentile, OfAHundredValuesIsItsOwnRank) {
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(lab::percentile(one_to(100), percent), percent);
  }
}

TEST(Percentile, NinetyNineOfAThousandLeavesTenAbove) { EXPECT_EQ(lab::percentile(one_to(1000), 99), 990); }

TEST(Percentile, BetweenTwoRanksTakesTheUpper) {
  EXPECT_EQ(lab::percentile(one_to(10), 91), 10);
  EXPECT_EQ(lab::percentile(one_to(3), 34), 2);
}

TEST(Percentile, DoesNotAskForAnOrder) {
  std::vector<double> values = one_to(1000);
  std::mt19937 random{7};  // NOLINT(cert-msc51-cpp): the same order in each run
  std::ranges::shuffle(values, random);
  EXPECT_EQ(lab::percentile(values, 99), 990);
  std::ranges::reverse(values);
  EXPECT_EQ(lab::percentile(values, 99), 990);
}

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(lab::median({3, 1, 2}), 2);
  EXPECT_EQ(lab::median({4, 3, 2, 1}), 2);  // of two in the middle the lower: a value that was measured, not a mean
}

TEST(Median, IsNotMovedByAnOutlier) { EXPECT_EQ(lab::median({1, 2, 3, 4, 1e9}), 3); }

}  // namespace
