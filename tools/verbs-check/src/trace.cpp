#include "trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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

std::string json_line(std::initializer_list<Field> fields) {
  std::string line = "{";
  for (const Field& field : fields) {
    if (line.size() > 1) {
      line += ',';
    }
    append_text(line, field.name);
    line += ':';
    if (const auto* const number = std::get_if<std::int64_t>(&field.value)) {
      line += std::to_string(*number);
    } else {
      append_text(line, std::get<std::string>(field.value));
    }
  }
  return line + "}";
}

int Trace::open(const std::string& path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return descriptor_ < 0 ? errno : 0;
}

void Trace::write(const std::string& line) {
  const std::string whole = line + "\n";
  // A trace on a full disk ends; the program that is watched goes on.
  if (descriptor_ >= 0 && ::write(descriptor_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace verbs_check
