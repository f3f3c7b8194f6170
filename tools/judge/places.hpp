/// @file
/// Function and line of the calls in a trace with raw places.
#pragma once

#include "tools/judge/lab.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace judge {

/// Looks places up in the debug information of one program, by addr2line(1), each of them once.
class Places {
public:
  /// @param program its path
  explicit Places(std::string program) : program_{std::move(program)} {}

  /// Replaces "program+0x1234" by "main, lab.cpp:31" in all that the trace says. What is not of the program stays as it
  /// is.
  void look_up(Outcome& outcome);

  /// The same for all such places in a text.
  void look_up(std::string& text);

private:
  void learn(const std::set<std::string>& addresses);
  [[nodiscard]] std::string replaced(const std::string& text) const;
  [[nodiscard]] std::vector<std::string> addresses_in(const std::string& text) const;

  std::string program_;
  std::map<std::string, std::string> known_{};  // by address
};

}  // namespace judge
