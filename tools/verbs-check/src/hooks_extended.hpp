// The extended interfaces: inline functions over a table of each context, which is changed as the one of the data path
// is.
#pragma once

#include <infiniband/verbs.h>

namespace verbs_check {

void watch_extended(ibv_context* context);
void unwatch_extended(ibv_context* context);

// The PD whose memory may be used with this one: of a parent domain the PD that it was made of, of others itself. Under
// the checker's mutex.
[[nodiscard]] const void* base_pd(const void* pd);

// The PD is gone.
void forget_parent_domain(const void* pd);

}  // namespace verbs_check
