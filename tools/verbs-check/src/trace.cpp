#include "trace.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

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

Line::Line() {
  constexpr std::size_t usual = 512;
  text_.reserve(usual);
  text_ += '{';
}

// Names are our own, and need no escape.
void Line::begin(std::string_view name) {
  if (text_.back() != '{' && text_.back() != '[') {
    text_ += ',';
  }
  if (!name.empty()) {
    text_ += '"';
    text_ += name;
    text_ += "\":";
  }
}

Line& Line::add(std::string_view name, std::int64_t value) {
  begin(name);
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
  return *this;
}

Line& Line::add(std::string_view name, std::string_view text) {
  begin(name);
  append_text(text_, text);
  return *this;
}

Line& Line::add_plain(std::string_view name, std::string_view text) {
  begin(name);
  text_ += '"';
  text_ += text;
  text_ += '"';
  return *this;
}

Line& Line::add_json(std::string_view name, std::string_view json) {
  begin(name);
  text_ += json;
  return *this;
}

Line& Line::open(std::string_view name, char bracket) {
  begin(name);
  text_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  return *this;
}

Line& Line::close() {
  text_ += open_.back();
  open_.pop_back();
  return *this;
}

const std::string& Line::text() {
  while (!open_.empty()) {
    close();
  }
  return text_;
}

int Trace::open(const std::string& path) {
  const int low = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (low < 0) {
    return errno;
  }
  // High up, where no file of the program's will be opened: it may have closed standard error, or close all that it
  // does not know and open its own in their place.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  descriptor_ = fcntl(low, F_DUPFD_CLOEXEC, static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1024)) - 1);
  const int code = descriptor_ < 0 ? errno : 0;
  ::close(low);
  return code;
}

void Trace::add(Line& line) {
  constexpr std::size_t many = 64 * 1024;
  if (!is_open()) {
    return;
  }
  waiting_ += line.text();
  waiting_ += '\n';
  has_waiting_ = true;
  if (waiting_.size() > many) {
    flush();
  }
}

void Trace::flush() {
  // A trace on a full disk ends; the program that is watched goes on.
  if (is_open() && ::write(descriptor_, waiting_.data(), waiting_.size()) != static_cast<ssize_t>(waiting_.size())) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  waiting_.clear();
  has_waiting_ = false;
}

}  // namespace verbs_check
