/// @file
/// Function and line of the calls in a trace with raw places.
#pragma once

#include "tools/judge/lab.hpp"

#include <map>
#include <string>
#include <vector>

namespace judge {

/// Looks places up in the debug information of one program, by addr2line(1), each of them once.
class Places {
public:
  /// @param program its path
  explicit Places(std::string program) : program_{std::move(program)} {}

  /// Replaces "program+0x1234" by "main, lab.cpp:31" in Call::where. What is not of the program stays as it is.
  void look_up(std::vector<Call>& calls);

private:
  std::string program_;
  std::map<std::string, std::string> known_{};  // by address
};

}  // namespace judge
