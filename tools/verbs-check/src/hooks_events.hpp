// What other hooks tell the one that watches events.
#pragma once

#include "checker.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>

namespace verbs_check {

// Says what would make the destruction of the object block, and which events of the device nobody has read.
void before_destroy(const Call& call, const void* object, ibv_context* context);

// The same for a device that is about to be closed.
void before_close(const Call& call, ibv_context* context);

// Says what makes the verb block for ever: `count` tells how many events of the object, which `get` gave, are not
// acknowledged. Another thread is given time to do it.
void say_unacked(const Call& call, const void* address, const char* id, const char* get, const char* mend,
                 const std::function<std::uint64_t()>& count);

// Makes the call of ibv_req_notify_cq by `verb`, and notes it.
int arm(ibv_cq* cq, int solicited_only, int (*verb)(ibv_cq*, int));

}  // namespace verbs_check
