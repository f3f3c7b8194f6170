// What other hooks ask the one that watches rdma_cm.
#pragma once

#include "checker.hpp"

namespace verbs_check {

// True, with a finding, when the device is the null pointer that `verbs` of an unresolved cm_id is: the call must not
// reach the library, which would crash.
bool is_unbound(const Call& call, const void* context);

}  // namespace verbs_check
