// Where in the program a call was made.
#pragma once

#include <string>

namespace verbs_check {

// The innermost caller that is not a verbs library: for a call from within librdmacm that is the program's own call
// into librdmacm. @param direct the return address of the call itself
[[nodiscard]] const void* caller(const void* direct);

// The innermost caller that is neither a verbs library nor the C or C++ library: the program's own line, for a function
// that these libraries call too.
[[nodiscard]] const void* caller_in_program();

// "main, a.cpp:12"; without debug information "main, ./program+0x1234". Slow the first time: for what is printed, not
// for every call. Under the checker's mutex, as is resolve_call().
[[nodiscard]] std::string resolve(const void* address);

// From now on resolve() and resolve_call() look nothing up: what they give is unresolved().
void leave_unresolved();

// "program+0x1234": the file and the address in it, of the call and not of the instruction after it. Quick.
[[nodiscard]] std::string unresolved(const void* address);

// What resolve() gives, for a call that goes on now. A destructor or a deleter that destroys for everybody is not the
// place, nor is a header of the system: it is the first caller outward that is neither.
[[nodiscard]] std::string resolve_call(const void* where);

}  // namespace verbs_check
