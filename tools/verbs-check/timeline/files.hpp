/// @file
/// Whole files.
#pragma once

#include <string>
#include <string_view>

namespace timeline {

/// Throws std::runtime_error with the errno's name.
[[nodiscard]] std::string read_file(const std::string& path);

/// Writes all of it or, on a failure, leaves what was there before. Throws std::runtime_error with the errno's name.
void write_file(const std::string& path, std::string_view text);

}  // namespace timeline
