// Hooking the verbs that move data, per context.
#pragma once

#include <infiniband/verbs.h>

namespace verbs_check {

// Puts our functions into the context's table, and keeps the originals. More than 64 contexts at a time go unwatched.
void watch_data(ibv_context* context);

// The context is about to be closed.
void unwatch_data(ibv_context* context);

}  // namespace verbs_check
