#include "tools/judge/verdict.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace judge {

using nlohmann::json;

const char* status_name(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::fail:
      return "fail";
    case Status::error:
      return "error";
    case Status::timeout:
      return "timeout";
    case Status::skip:
      return "skip";
  }
  return "error";
}

namespace {

std::string number_of(const Report& report) { return report.lab.substr(0, 2); }

void add(std::ostringstream& text, const char* what, const std::string& value) {
  if (!value.empty()) {
    text << "          " << std::left << std::setw(10) << what << harmless(value) << '\n';
  }
}

std::string hint_for(const Report& report, const Verdict& verdict) {
  return "./lab hint " + number_of(report) + " " + std::to_string(verdict.step);
}

bool has_hint(const Verdict& verdict) {
  return verdict.id != "builds" && (verdict.status == Status::fail || verdict.status == Status::timeout);
}

std::string message(const Report& report, const Verdict& verdict) {
  std::ostringstream text;
  if (!verdict.why.expected.empty()) {
    text << "expected: " << verdict.why.expected << '\n';
  }
  if (!verdict.why.seen.empty()) {
    text << "seen: " << verdict.why.seen << '\n';
  }
  if (!verdict.why.likely.empty()) {
    text << "likely: " << verdict.why.likely << '\n';
  }
  if (has_hint(verdict)) {
    text << "read: " << verdict.read << "\nhint: " << hint_for(report, verdict) << '\n';
  }
  return text.str();
}

}  // namespace

std::string harmless(std::string_view text, bool lines) {
  std::string result;
  while (!text.empty()) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    if (byte(0) > 0xf4 || length > text.size()) {
      length = 0;
    }
    for (std::size_t at = 1; at < length; ++at) {
      length = (byte(at) & 0xc0U) == 0x80 ? length : 0;
    }
    const bool kept = lines && (text.front() == '\n' || text.front() == '\t');
    // U+0080 to U+009F are control characters too, and some terminals obey them.
    const bool control = length == 1 ? byte(0) < 0x20 || byte(0) == 0x7f : byte(0) == 0xc2 && byte(1) < 0xa0;
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (kept || (length > 0 && !control)) {
      result += text.substr(0, taken);
    } else {
      for (std::size_t at = 0; at < taken; ++at) {
        constexpr std::string_view digits = "0123456789abcdef";
        result += "\\x";
        result += digits[byte(at) / 16];
        result += digits[byte(at) % 16];
      }
    }
    text.remove_prefix(taken);
  }
  return result;
}

void write_file(const std::string& name, const std::string& text) {
  const std::string beside = name + ".new";
  std::ofstream file{beside};
  file << text;
  file.close();
  if (!file || std::rename(beside.c_str(), name.c_str()) != 0) {
    throw std::runtime_error{"cannot write " + name};
  }
}

std::string as_text(const Report& report) {
  std::size_t longest = 0;
  for (const Verdict& verdict : report.verdicts) {
    longest = std::max(longest, verdict.id.size());
  }
  std::ostringstream text;
  text << report.lab << ": " << report.title << '\n';
  for (const Verdict& verdict : report.verdicts) {
    const bool passed = verdict.status == Status::pass;
    std::string status = passed ? "ok" : status_name(verdict.status);
    if (!passed && verdict.status != Status::skip) {
      std::ranges::transform(status, status.begin(), [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    }
    text << "  " << std::left << std::setw(8) << status << std::setw(static_cast<int>(longest) + 2) << verdict.id
         << std::right << std::setw(3) << verdict.points << '/' << std::left << std::setw(4) << verdict.max_points;
    text << harmless(verdict.status == Status::skip ? verdict.why.seen : verdict.title) << '\n';
    if (!passed && verdict.status != Status::skip) {
      add(text, "expected", verdict.why.expected);
      add(text, "seen", verdict.why.seen);
      add(text, "likely", verdict.why.likely);
      if (has_hint(verdict)) {
        add(text, "read", verdict.read);
        add(text, "hint", hint_for(report, verdict));
      }
    }
  }
  text << report.lab << ": " << report.points() << " of " << report.max_points() << " points"
       << (report.passed() ? ", passed" : "") << '\n';
  return text.str();
}

json as_json(const Report& report) {
  json checks = json::array();
  for (const Verdict& verdict : report.verdicts) {
    checks.push_back({{"id", verdict.id},
                      {"title", verdict.title},
                      {"status", status_name(verdict.status)},
                      {"points", verdict.points},
                      {"max_points", verdict.max_points},
                      {"message", message(report, verdict)}});
  }
  return {{"lab", report.lab},
          {"title", report.title},
          {"submission", report.submission},
          {"place", report.place},
          {"device", report.device},
          {"points", report.points()},
          {"max_points", report.max_points()},
          {"passed", report.passed()},
          {"checks", checks}};
}

json as_gradescope(const std::vector<json>& verdicts) {
  json tests = json::array();
  std::string output;
  for (const json& lab : verdicts) {
    for (const json& check : lab.at("checks")) {
      tests.push_back({{"name", lab.at("lab").get<std::string>() + ": " + check.at("title").get<std::string>()},
                       {"number", lab.at("lab").get<std::string>() + "." + check.at("id").get<std::string>()},
                       {"score", check.at("points")},
                       {"max_score", check.at("max_points")},
                       {"status", check.at("status") == "pass" ? "passed" : "failed"},
                       {"output", check.at("message")}});
    }
    if (output.empty()) {
      output = "ran on: " + lab.at("place").get<std::string>();
    }
  }
  return {{"output", output}, {"visibility", "visible"}, {"tests", tests}};
}

}  // namespace judge
