/// @file
/// Waiting for a completion, as chapter 09 does it by hand.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>

namespace lab {

/// Polls until the next completion is there and returns it, whatever its status.
/// Throws Error when none comes within `patience`: a peer that dies while this side only waits to receive leaves no
/// completion and, without rdma_cm, no event, so only the clock notices. Throws Error when the queue itself is broken.
/// ibv_poll_cq(3)
/// @param waiting_for what did not come, for the message: "the peer's message"
[[nodiscard]] ibv_wc wait_completion(ibv_cq* cq, std::chrono::seconds patience, const char* waiting_for);

}  // namespace lab
