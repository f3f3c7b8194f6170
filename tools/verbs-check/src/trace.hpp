// The trace: JSON Lines, one object a call, described in docs/verbs-check/trace.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace verbs_check {

// One line of the trace: a JSON object that is filled from left to right. Text is escaped as JSON wants it.
class Line {
public:
  Line& add(std::string_view name, std::int64_t value);
  Line& add(std::string_view name, std::string_view text);

  // The same for text that needs no escape: names of constants, verbs and objects.
  Line& add_plain(std::string_view name, std::string_view text);
  // And for what is JSON already: see json_text().
  Line& add_json(std::string_view name, std::string_view json);

  // An object ('{') or array ('[') in this one, until close(). In an array the names are left empty.
  Line& open(std::string_view name, char bracket);
  Line& close();

  // The whole line without its end; what is open is closed.
  [[nodiscard]] const std::string& text();

  Line();

private:
  void begin(std::string_view name);

  std::string text_;
  std::string open_ = "}";  // what closes what is open, the innermost last
};

// "a\"b" for a"b.
[[nodiscard]] std::string json_text(std::string_view text);

// Writes whole lines only, so that what a SIGKILL leaves ends with a whole line.
class Trace {
public:
  // Opens the file, to write at its end: other processes of the program write there too. Returns 0 or the errno value.
  int open(const std::string& path);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Adds a line, which waits for flush(), or until there are many.
  void add(Line& line);

  // Writes what waits. Allocates nothing.
  void flush();

  [[nodiscard]] bool has_waiting() const { return has_waiting_.load(std::memory_order_relaxed); }

private:
  int descriptor_ = -1;
  std::string waiting_;
  std::atomic<bool> has_waiting_{false};
};

}  // namespace verbs_check
