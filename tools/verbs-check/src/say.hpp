// Speaking to the user, in a process that belongs to somebody else.
#pragma once

#include <string_view>

namespace verbs_check {

// Writes the text to standard error, as write_all() does. Says nothing when standard error was closed at the start of
// the program, for then its descriptor is a file of the program's by now.
void say(std::string_view text);

// Looks at standard error. At the start of the process.
void say_prepare();

// From now on nothing is said.
void say_nothing_more();

}  // namespace verbs_check
