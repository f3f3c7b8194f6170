#include "say.hpp"

#include "write.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace verbs_check {

namespace {

bool is_mute = false;

}  // namespace

void say_prepare() {
  if (fcntl(STDERR_FILENO, F_GETFD) < 0) {
    is_mute = true;
  }
}

void say_nothing_more() { is_mute = true; }

void say(std::string_view text) {
  if (!is_mute) {
    write_all(STDERR_FILENO, text);
  }
}

}  // namespace verbs_check
