/// @file
/// @brief Waiting for a completion, as chapter 09 does it by hand.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>

namespace lab {

/// Polls until the next completion is there. ibv_poll_cq(3)
///
/// Only the clock notices a peer that dies while this side waits to receive: it leaves no completion and, without
/// rdma_cm, no event.
/// @param cq          the queue to poll; stays the caller's
/// @param patience    how long to poll, in seconds
/// @param waiting_for what did not come, for the message: "the peer's message"
/// @return the completion, whatever its status: see check_completion()
/// @throws Error when none comes within `patience`, or the queue itself is broken
[[nodiscard]] ibv_wc wait_completion(ibv_cq* cq, std::chrono::seconds patience, const char* waiting_for);

}  // namespace lab
