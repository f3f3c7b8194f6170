#include "tools/judge/places.hpp"

#include <cstdio>
#include <memory>

namespace judge {

namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "(anonymous namespace)::come(ibv_context*, std::map<...>&)": arguments and anonymous namespaces say little.
std::string short_name(std::string function) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (auto at = function.find(anonymous); at != std::string::npos; at = function.find(anonymous)) {
    function.erase(at, anonymous.size());
  }
  return function.substr(0, function.find('('));
}

std::string shell_word(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    result += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  }
  return result + "'";
}

// A line without its end; false at the end of the stream.
bool read_line(std::FILE* stream, std::string& line) {
  line.clear();
  int letter = 0;
  while ((letter = std::fgetc(stream)) != EOF && letter != '\n') {
    line += static_cast<char>(letter);
  }
  return letter != EOF;
}

}  // namespace

void Places::look_up(std::vector<Call>& calls) {
  const std::string start = base_name(program_) + "+";
  std::vector<std::string> wanted;
  std::string command = "addr2line -fCe " + shell_word(program_);
  for (const Call& call : calls) {
    if (call.where.starts_with(start + "0x") &&
        call.where.find_first_not_of("0123456789abcdef", start.size() + 2) == std::string::npos &&
        known_.try_emplace(call.where.substr(start.size())).second) {
      wanted.push_back(call.where.substr(start.size()));
      command += " " + wanted.back();
    }
  }
  if (!wanted.empty()) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer{popen(command.c_str(), "r"), pclose};
    std::string function;
    std::string line;
    for (const std::string& address : wanted) {
      if (answer && read_line(answer.get(), function) && read_line(answer.get(), line)) {
        known_[address] = short_name(function) + ", " + base_name(line.substr(0, line.find(' ')));
      }
    }
  }
  for (Call& call : calls) {
    const auto found = call.where.starts_with(start) ? known_.find(call.where.substr(start.size())) : known_.end();
    if (found != known_.end() && !found->second.empty()) {
      call.where = found->second;
    }
  }
}

}  // namespace judge
