#include "common/owned.hpp"

#include "common/errors.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace lab {

namespace {
std::atomic<int> failures{0};
}  // namespace

void report_failed_destroy(std::string_view verb, int result) noexcept {
  ++failures;
  try {
    const VerbError error{verb, result == -1 ? errno : result, {}};
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (...) {  // out of memory while writing the message: the count still says it
  }
}

int failed_destroys() noexcept { return failures; }

}  // namespace lab
