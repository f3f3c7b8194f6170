/// @file
/// The page: the story as data, within the HTML, CSS and JavaScript that draw it.
#pragma once

#include "timeline/story.hpp"
#include "timeline/thin.hpp"

#include <string>
#include <vector>

namespace timeline {

/// A trace as the page names it.
struct Source {
  std::string name;
  std::size_t lines = 0;
  std::size_t skipped = 0;  ///< lines that are not of a trace
};

/// One whole HTML document that needs no other file.
[[nodiscard]] std::string page(const Story& story, const Selection& selection, const std::vector<Source>& sources,
                               const std::string& clocks);

}  // namespace timeline
