#include "trace.hpp"

#include "names.hpp"
#include "write.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace verbs_check {

namespace {

// How many bytes the UTF-8 character at the beginning of the text has; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xc2 ? 0
                             : byte(0) < 0xe0 ? 2
                             : byte(0) < 0xf0 ? 3
                             : byte(0) < 0xf5 ? 4
                                              : 0;
  if (length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) {
      return 0;
    }
  }
  return length;
}

void append_text(std::string& line, std::string_view text) {
  line += '"';
  // Nearly all text needs no escape.
  const auto plain = std::ranges::find_if(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x80 || c == '"' || c == '\\';
  });
  line.append(text.begin(), plain);
  text.remove_prefix(static_cast<std::size_t>(plain - text.begin()));
  while (!text.empty()) {
    // File names may be any bytes.
    const std::size_t length = utf8_length(text);
    if (length != 1) {
      line += length == 0 ? "\\ufffd" : text.substr(0, length);
      text.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    const char character = text.front();
    text.remove_prefix(1);
    if (character == '"' || character == '\\') {
      line += '\\';
      line += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned char>(character));
      line += escaped.data();
    } else {
      line += character;
    }
  }
  line += '"';
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json;
  append_text(json, text);
  return json;
}

Line::Line(std::string memory) : memory_{std::move(memory)} {
  constexpr std::size_t usual = 1024;
  if (memory_.size() < usual) {
    memory_.resize(usual);
  }
  memory_[used_++] = '{';
}

// Where so many bytes can be put next.
char* Line::room(std::size_t count) {
  if (used_ + count > memory_.size()) {
    memory_.resize(2 * (used_ + count));
  }
  return memory_.data() + used_;
}

void Line::put(std::string_view bytes) {
  std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  used_ += bytes.size();
}

// The comma and the name; then there is room for `more` bytes.
void Line::begin(std::string_view name, std::size_t more) {
  constexpr std::size_t marks = 4;  // ,"":
  char* to = room(name.size() + marks + more);
  const char last = memory_[used_ - 1];
  if (last != '{' && last != '[') {
    *to++ = ',';
  }
  if (!name.empty()) {
    *to++ = '"';
    std::memcpy(to, name.data(), name.size());
    to += name.size();
    *to++ = '"';
    *to++ = ':';
  }
  used_ = static_cast<std::size_t>(to - memory_.data());
}

constexpr std::size_t digits = 20;  // of the longest number, its sign included

Line& Line::add(std::string_view name, std::int64_t value) {
  begin(name, digits);
  return add_raw(value);
}

Line& Line::add_raw(std::int64_t number) {
  char* const to = room(digits);
  used_ = static_cast<std::size_t>(std::to_chars(to, to + digits, number).ptr - memory_.data());
  return *this;
}

Line& Line::add(std::string_view name, std::string_view text) {
  begin(name, 0);
  put(json_text(text));
  return *this;
}

Line& Line::add_plain(std::string_view name, std::string_view text) {
  begin(name, text.size() + 2);
  char* const to = memory_.data() + used_;
  *to = '"';
  std::memcpy(to + 1, text.data(), text.size());
  to[text.size() + 1] = '"';
  used_ += text.size() + 2;
  return *this;
}

Line& Line::open(std::string_view name, char bracket) {
  begin(name, 1);
  memory_[used_++] = bracket;
  open_.at(depth_++) = bracket == '{' ? '}' : ']';
  return *this;
}

Line& Line::close() {
  *room(1) = open_.at(--depth_);
  ++used_;
  return *this;
}

std::string_view Line::text() {
  while (depth_ > 0) {
    close();
  }
  return {memory_.data(), used_};
}

namespace {

constexpr std::size_t many = 128 * 1024;  // bytes may wait: in practice half of it, for bounds are not exact
constexpr std::size_t batch_most = 320;   // bytes of its line, without its beginning: ten fields, and the key
constexpr std::size_t entry_most = 256;   // with all flags, long numbers, and the name of a QP

}  // namespace

int Trace::open(const std::string& path) {
  const int low = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return low < 0 ? errno : adopt(low, {});
}

int Trace::adopt(int low, std::string key) {
  const int flags = fcntl(low, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    return EBADF;
  }
  // High up, where no file of the program's will be opened: it may have closed standard error, or close all that it
  // does not know and open its own in their place.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  int high = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1024)) - 1;
  do {  // the highest that is free
    descriptor_ = fcntl(low, F_DUPFD_CLOEXEC, high);
  } while (descriptor_ < 0 && --high > low);
  const int code = descriptor_ < 0 ? errno : 0;
  ::close(low);
  if (!key.empty()) {
    key_ = std::move(key) + ' ';
  }
  // So that flush() allocates nothing; and memory that is given back, and that the program gets, has no key in it.
  waiting_.reserve(2 * many);
  memory_.resize(many);
  static_cast<void>(send_flag_names(0));  // makes its table
  batches_.reserve(many / batch_most);
  entries_.reserve(many / entry_most);
  return code;
}

Line Trace::line() {
  settle();
  return Line{std::move(memory_)};
}

void Trace::append(Line&& line) {
  if (!key_.empty()) {
    // The program may have written there, and not ended its line.
    waiting_ += waiting_.empty() ? "\n" : "";
    waiting_ += key_;
  }
  waiting_ += line.text();
  waiting_ += '\n';
  memory_ = std::move(line).take_memory();
}

void Trace::add(Line& line) {
  if (!is_open()) {
    return;
  }
  append(std::move(line));
  has_waiting_.store(true, std::memory_order_relaxed);
  bound_ = waiting_.size();
  if (bound_ > many) {
    flush();
  }
}

void Trace::add(Batch batch) {
  batch.count = entries_.size() - settled_;
  settled_ = entries_.size();
  batches_.push_back(batch);
  has_waiting_.store(true, std::memory_order_relaxed);
  bound_ += batch_most + batch.beginning->until_result.size() + batch.beginning->after_result.size() +
            batch.count * entry_most;
  if (bound_ > many) {
    flush();
  }
}

namespace {

void add_entry(Line& line, Shape shape, const Entry& entry) {
  line.open("", '{');
  if (shape == Shape::completions) {
    line.add_plain("qp", *entry.qp);
  }
  line.add("wr_id", static_cast<std::int64_t>(entry.wr_id));
  if (shape == Shape::completions) {
    line.add_plain("status", status_name(static_cast<ibv_wc_status>(entry.status)));
    if (entry.status == IBV_WC_SUCCESS) {
      line.add_plain("opcode", opcode_name(static_cast<ibv_wc_opcode>(entry.opcode))).add("byte_len", entry.length);
    }
  } else {
    if (shape == Shape::sends) {
      line.add_plain("opcode", opcode_name(static_cast<ibv_wr_opcode>(entry.opcode)))
          .add_plain("send_flags", send_flag_names(entry.flags));
    }
    line.add("length", entry.length);
  }
  line.close();
}

}  // namespace

void Trace::settle() {
  const Entry* entry = entries_.data();
  for (const Batch& batch : batches_) {
    Line line{std::move(memory_)};
    line.add("time_ns", batch.time_ns).add("pid", batch.process).add("thread", batch.thread);
    line.add_raw(batch.beginning->until_result).add_raw(batch.result).add_raw(batch.beginning->after_result);
    line.open("args", '{');
    if (batch.shape == Shape::completions) {
      line.add("num_entries", batch.num_entries).close().open("completions", '[');
    } else {
      line.open("requests", '[');
    }
    for (const Entry* const end = entry + batch.count; entry != end; ++entry) {
      add_entry(line, batch.shape, *entry);
    }
    append(std::move(line));
  }
  batches_.clear();
  entries_.clear();
  settled_ = 0;
}

void Trace::flush() {
  settle();
  // A trace on a full disk ends; the program that is watched goes on.
  if (is_open() && !waiting_.empty() && !write_all(descriptor_, waiting_)) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  waiting_.clear();
  bound_ = 0;
  has_waiting_ = false;
}

}  // namespace verbs_check
