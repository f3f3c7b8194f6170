// The trace: JSON Lines, one object a call, described in docs/verbs-check/trace.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verbs_check {

// One line of the trace: a JSON object that is filled from left to right. Text is escaped as JSON wants it.
class Line {
public:
  Line& add(std::string_view name, std::int64_t value);
  Line& add(std::string_view name, std::string_view text);

  // An object ('{') or array ('[') in this one, until close(). In an array the names are left empty.
  Line& open(std::string_view name, char bracket);
  Line& close();

  // The whole line without its end; what is open is closed.
  [[nodiscard]] const std::string& text();

private:
  void begin(std::string_view name);

  std::string text_ = "{";
  std::string open_ = "}";  // what closes what is open, the innermost last
};

// Writes whole lines with one write(2) each, so that what a SIGKILL leaves ends with a whole line.
class Trace {
public:
  // Opens the file, to write at its end: other processes of the program write there too. Returns 0 or the errno value.
  int open(const std::string& path);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void write(Line& line);

private:
  int descriptor_ = -1;
};

}  // namespace verbs_check
