// Hooking the verbs that move data, per context.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs_check {

// Puts our functions into the context's table, and keeps the originals. More than 64 contexts at a time go unwatched.
void watch_data(ibv_context* context);

// The context is about to be closed.
void unwatch_data(ibv_context* context);

// In strict mode the lkey that the program sees is another number than the rkey, and than the device's: both ways.
[[nodiscard]] constexpr std::uint32_t virtual_lkey(std::uint32_t lkey) { return lkey ^ 0x5eed0000U; }

// Whether the context is watched.
[[nodiscard]] bool is_watched(const ibv_context* context);

// Whether there is a completion in the CQ. It is taken out, and given to the next ibv_poll_cq. Only while no other
// thread polls.
[[nodiscard]] bool has_completion(const void* cq);

}  // namespace verbs_check
