/// @file
/// Makes a long story short enough for a browser.
#pragma once

#include "timeline/story.hpp"

#include <string>
#include <vector>

namespace timeline {

/// How much is kept of each sort, counted in calls with their requests and completions.
struct Limits {
  std::size_t ordinary = 40'000;  ///< posts, polls and questions that went well
  std::size_t rare = 20'000;      ///< what made, changed or destroyed an object, failed, or has a finding
  std::size_t findings = 2'000;
};

/// A part of the time in which something was left out.
struct Gap {
  Time from = 0;
  Time to = 0;
  std::string what;  ///< "991 200 calls that went well"
};

struct Selection {
  std::vector<bool> calls;  ///< which are kept
  std::vector<bool> objects;
  std::vector<bool> requests;
  std::vector<bool> findings;
  std::vector<Gap> gaps;
};

/// Keeps all, or of each sort what came first and last.
[[nodiscard]] Selection thin(const Story& story, const Limits& limits);

}  // namespace timeline
