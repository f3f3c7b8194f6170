// Runs the snippets: all of them, or those that are named. Ends with 0 when everything that they claim was seen.
// On standard error a line "=== NAME" ends what comes from a snippet, for instance from verbs-check.
#include "testing.hpp"

#include <cstdio>
#include <set>
#include <string_view>

int main(int argc, char** argv) {
  std::set<std::string_view> wanted{argv + 1, argv + argc};
  if (wanted.erase("--list") > 0) {
    for (const Test& test : tests()) {
      std::printf("%s\n", test.name);
    }
    return 0;
  }
  const bool all = wanted.empty();
  int failed = 0;
  for (const Test& test : tests()) {
    if (!all && wanted.erase(test.name) == 0) {
      continue;
    }
    try {
      test.run();
      std::printf("passed %s\n", test.name);
    } catch (const std::exception& error) {
      std::printf("FAILED %s: %s\n", test.name, error.what());
      ++failed;
    }
    std::fflush(stdout);
    std::fprintf(stderr, "=== %s\n", test.name);
  }
  for (const std::string_view name : wanted) {
    std::printf("FAILED %s: there is no such snippet\n", std::string{name}.c_str());
    ++failed;
  }
  return failed == 0 && lab::failed_destroys() == 0 ? 0 : 1;
}
