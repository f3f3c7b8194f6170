/// @file
/// @brief What to say about many measured durations: not the mean alone, which one outlier can move.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lab {

/// The smallest value that is not less than `percent` per cent of all (nearest-rank method): 50 gives the median,
/// 99 the 99th percentile.
/// @param values  at least one, in any order
/// @param percent above 0, at most 100
/// @return one of the values, in their unit
[[nodiscard]] inline double percentile(std::vector<double> values, double percent) {
  // Multiplied first: 7 / 100.0 * 100 is a little above 7, and would be rounded up to rank 8.
  const auto rank = static_cast<std::size_t>(std::ceil(percent * static_cast<double>(values.size()) / 100.0));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 0 : rank - 1);
  std::ranges::nth_element(values, nth);
  return *nth;
}

/// The value that half of them do not exceed: percentile() of 50.
/// @param values at least one, in any order
/// @return one of the values, in their unit
[[nodiscard]] inline double median(const std::vector<double>& values) { return percentile(values, 50); }

}  // namespace lab
