// Some verbs that only ask are inline functions over function pointers of the context: those are replaced in each
// context that is opened.
#pragma once

#include <infiniband/verbs.h>

namespace verbs_check {

void watch_queries(ibv_context* context);
void unwatch_queries(ibv_context* context);

}  // namespace verbs_check
