// The trace: JSON Lines, one object a call, described in docs/verbs-check/trace.md.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace verbs_check {

struct Field {
  std::string_view name;
  std::variant<std::int64_t, std::string> value;
};

// One line of the trace, without its end: {"verb":"ibv_alloc_pd","result":0,...}. Text is escaped as JSON wants it.
[[nodiscard]] std::string json_line(std::initializer_list<Field> fields);

// Writes whole lines with one write(2) each, so that what a SIGKILL leaves ends with a whole line.
class Trace {
public:
  // Opens the file, to write at its end: other processes of the program write there too. Returns 0 or the errno value.
  int open(const std::string& path);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void write(const std::string& line);

private:
  int descriptor_ = -1;
};

}  // namespace verbs_check
