// The trace: JSON Lines, one object a call, described in docs/verbs-check/trace.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace verbs_check {

// One line of the trace: a JSON object that is filled from left to right, by names of our own, which need no escape.
class Line {
public:
  // The memory of an earlier line may be used again.
  explicit Line(std::string memory = {});
  [[nodiscard]] std::string take_memory() && { return std::move(memory_); }

  Line& add(std::string_view name, std::int64_t value);

  // Text is escaped as JSON wants it.
  Line& add(std::string_view name, std::string_view text);

  // The same for text that needs no escape: names of constants, verbs and objects.
  Line& add_plain(std::string_view name, std::string_view text);

  // And for parts of a line that were made before, commas and all.
  Line& add_raw(std::string_view json) {
    put(json);
    return *this;
  }
  Line& add_raw(std::int64_t number);

  // An object ('{') or array ('[') in this one, until close(). In an array the names are left empty.
  Line& open(std::string_view name, char bracket);
  Line& close();

  // The whole line without its end, as long as the line is not changed; what is open is closed.
  [[nodiscard]] std::string_view text();

private:
  // This is done for each post and each completion of a program, so it is done by hand: room once, then bytes.
  char* room(std::size_t count);
  void put(std::string_view bytes);
  void begin(std::string_view name, std::size_t more);

  std::string memory_;  // all of it, of which the first bytes are the text
  std::size_t used_ = 0;
  std::array<char, 16> open_{'}'};  // what closes what is open, the innermost last
  std::size_t depth_ = 1;
};

// "a\"b" for a"b.
[[nodiscard]] std::string json_text(std::string_view text);

// Writes whole lines only, so that what a SIGKILL leaves ends with a whole line.
class Trace {
public:
  // Opens the file, to write at its end: other processes of the program write there too. Returns 0 or the errno value.
  int open(const std::string& path);

  // Takes over a descriptor that is open, and writes the key and a blank before each line. Returns 0 or the errno
  // value.
  int adopt(int descriptor, std::string key);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // A new line, and its end: it waits for flush(), or until there are many. There is one at a time as a rule.
  [[nodiscard]] Line line() { return Line{std::move(memory_)}; }
  void add(Line& line);

  // Writes what waits. Allocates nothing.
  void flush();

  [[nodiscard]] bool has_waiting() const { return has_waiting_.load(std::memory_order_relaxed); }

private:
  int descriptor_ = -1;
  std::string key_;
  std::string waiting_;
  std::string memory_;
  std::atomic<bool> has_waiting_{false};
};

}  // namespace verbs_check
