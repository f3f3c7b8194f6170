// Speaking to the user, in a process that belongs to somebody else.
#pragma once

#include <string_view>

namespace verbs_check {

// Writes the text to standard error, without stdio and without allocating: the program may be in the middle of either.
// Says nothing when standard error was closed at the start of the program, for then its descriptor is a file of the
// program's by now; and a reader who has gone away does not end the program.
void say(std::string_view text);

// Looks at standard error. At the start of the process.
void say_prepare();

}  // namespace verbs_check
