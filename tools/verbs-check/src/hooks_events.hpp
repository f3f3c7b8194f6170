// What other hooks tell the one that watches events.
#pragma once

#include "checker.hpp"

#include <infiniband/verbs.h>

namespace verbs_check {

// Says what would make the destruction of the object block, and which events of the device nobody has read.
void before_destroy(const Call& call, const void* object, ibv_context* context);

// The same for a device that is about to be closed.
void before_close(const Call& call, ibv_context* context);

// ibv_req_notify_cq was called.
void armed(const ibv_cq* cq, bool solicited_only);

}  // namespace verbs_check
