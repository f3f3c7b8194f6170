// Where in the program a call was made.
#pragma once

#include <string>

namespace verbs_check {

// The innermost caller that is not a verbs library: for a call from within librdmacm that is the program's own call
// into librdmacm. @param direct the return address of the call itself
[[nodiscard]] const void* caller(const void* direct);

// "main, a.cpp:12"; without debug information "main, ./program+0x1234". Slow: for what is printed, not for every call.
[[nodiscard]] std::string resolve(const void* address);

}  // namespace verbs_check
