#include "timeline/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace timeline {

namespace {

[[noreturn]] void fail(const char* what, const std::string& path, int code, const char* fix = "") {
  const char* const name = strerrorname_np(code);
  throw std::runtime_error{std::string{what} + " " + path + ": " + (name == nullptr ? std::to_string(code) : name) +
                           " (" + strerror(code) + ")" + fix};
}

// Returns 0 or the errno value.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::string read_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot read the trace", path, errno);
  }
  std::string text;
  constexpr std::size_t step = 1 << 20;
  for (ssize_t got = 1; got != 0;) {
    const std::size_t have = text.size();
    text.resize(have + step);
    got = read(descriptor, text.data() + have, step);
    const int code = errno;
    text.resize(have + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got < 0 && code != EINTR) {
      close(descriptor);
      fail("cannot read the trace", path, code);
    }
  }
  close(descriptor);
  return text;
}

void write_file(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  constexpr const char* fix = "; name a file with -o that can be written, on a disk with room";
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {  // /dev/stdout: nothing to put in its place
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const int code = descriptor < 0 ? errno : write_all(descriptor, text);
    if (descriptor >= 0) {
      close(descriptor);
    }
    if (code != 0) {
      fail("cannot write the page", path, code, fix);
    }
    return;
  }
  // Written beside it and put in its place when it is whole.
  const std::string target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored).string() : path;
  std::string beside = target + ".XXXXXX";
  const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot write the page", path, errno, fix);
  }
  int code = write_all(descriptor, text);
  const mode_t mask = umask(0);
  umask(mask);
  if (code == 0 && fchmod(descriptor, 0666 & ~mask) != 0) {
    code = errno;
  }
  if (close(descriptor) != 0 && code == 0) {
    code = errno;
  }
  if (code == 0 && rename(beside.c_str(), target.c_str()) != 0) {
    code = errno;
  }
  if (code != 0) {
    unlink(beside.c_str());
    fail("cannot write the page", path, code, fix);
  }
}

}  // namespace timeline
