// The trace: JSON Lines, one object a call, described in docs/verbs-check/trace.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// What the lines of a call have before and after its result, as JSON.
struct Beginning {
  std::string until_result;  // ,"verb":"ibv_poll_cq","object":"CQ #1","result":
  std::string after_result;  // ,"where":"main, a.cpp:12"
};

// A request that was posted, or a completion that was polled.
struct Entry {
  std::uint64_t wr_id = 0;
  std::int64_t length = 0;
  int opcode = 0;
  unsigned flags = 0;               // of a send
  int status = 0;                   // of a completion
  const std::string* qp = nullptr;  // of a completion: its name
};

enum class Shape { sends, receives, completions };

// A call that moves data. Making a line takes longer than the call: it is kept like this until it is written.
struct Batch {
  Shape shape = Shape::sends;
  const Beginning* beginning = nullptr;
  std::int64_t time_ns = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t result = 0;
  std::int64_t num_entries = 0;  // of ibv_poll_cq
  std::size_t count = 0;         // of its entries
};

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
  [[nodiscard]] Line line();
  void add(Line& line);

  // The same for a call that moves data: each entry, then the batch. What they point to stays until settle().
  void add(const Entry& entry) { entries_.push_back(entry); }
  void add(Batch batch);

  // Makes lines of the batches. Allocates nothing.
  void settle();

  // Writes what waits. Allocates nothing.
  void flush();

  [[nodiscard]] bool has_waiting() const { return has_waiting_.load(std::memory_order_relaxed); }

private:
  int descriptor_ = -1;
  void append(Line&& line);

  std::string key_;
  std::vector<Batch> batches_;
  std::vector<Entry> entries_;
  std::size_t settled_ = 0;  // entries that are of batches
  std::size_t bound_ = 0;    // on the bytes that wait when the batches have become lines
  std::string waiting_;
  std::string memory_;
  std::atomic<bool> has_waiting_{false};
};

}  // namespace verbs_check
