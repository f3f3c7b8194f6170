/// @file
/// The trace of a run, as verbs-check writes it.
#pragma once

#include "tools/judge/lab.hpp"

#include <string>

namespace judge {

/// Puts the lines of the trace into the outcome. A line that does not begin with the key was not written by the
/// checker: the first such goes to Outcome::forged.
void read_trace(const std::string& text, const std::string& key, Outcome& outcome);

}  // namespace judge
