// Writing in a process that belongs to somebody else.
#pragma once

#include <string_view>

namespace verbs_check {

// Writes all of it, without stdio and without allocating: the program may be in the middle of either. False when that
// cannot be done. A reader who has gone away does not end the program, and errno stays.
bool write_all(int descriptor, std::string_view text);

}  // namespace verbs_check
