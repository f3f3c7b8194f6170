/// @file
/// The clocks of two hosts: what was sent there is received here later.
#pragma once

#include "timeline/story.hpp"

#include <string>
#include <vector>

namespace timeline {

/// Finds which sends completed which receives of a connected QP, on the same host or another one, and adds them to the
/// story. Two QPs belong together when each has the other's number, and the PSNs agree. Where more than one could be
/// the peer, none is.
void join_messages(Story& story);

/// Moves the second trace to the clock of the first, as far as both clocks are known, and says how, for a reader. Empty
/// with one trace. @param names of the traces
std::string align(Story& story, const std::vector<std::string>& names);

/// "1.93 ms"
[[nodiscard]] std::string duration_text(Time duration);

}  // namespace timeline
