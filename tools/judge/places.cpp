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

// What is chosen of the functions that were inlined at an address, the innermost first: the first one that is neither
// the API's own header nor a destructor or deleter, which destroys for everybody.
class Choice {
public:
  void add(const std::string& function, const std::string& path) {
    const std::string file = base_name(path.substr(0, path.find(' ')));  // "(discriminator 2)" may follow
    const bool foreign = path.starts_with("/usr/") || file.starts_with("verbs.h:");
    const bool owner = function.find("operator()") != std::string::npos || function.find("::~") != std::string::npos;
    if (text_.empty() || (!good_ && !foreign && !owner)) {
      text_ = short_name(function) + ", " + file;
      good_ = !foreign && !owner;
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

private:
  std::string text_;
  bool good_ = false;
};

void Places::look_up(std::vector<Call>& calls) {
  const std::string start = base_name(program_) + "+";
  const auto address_of = [&](const Call& call) -> std::string {
    const bool own = call.where.starts_with(start + "0x") &&
                     call.where.find_first_not_of("0123456789abcdef", start.size() + 2) == std::string::npos;
    return own ? call.where.substr(start.size()) : std::string{};
  };
  std::string command = "addr2line -afiCe " + shell_word(program_);
  std::vector<std::string> wanted;
  for (const Call& call : calls) {
    if (const std::string address = address_of(call); !address.empty() && known_.try_emplace(address).second) {
      command += " " + address;
      wanted.push_back(address);
    }
  }
  if (!wanted.empty()) {
    // Of each address a line with it, then two lines for each function.
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer{popen(command.c_str(), "r"), pclose};
    std::size_t count = 0;
    Choice choice;
    std::string function;
    std::string line;
    while (answer && read_line(answer.get(), function)) {
      if (function.starts_with("0x")) {
        ++count;
        choice = {};
      } else if (count > 0 && count <= wanted.size() && read_line(answer.get(), line)) {
        choice.add(function, line);
        known_[wanted[count - 1]] = choice.text();
      }
    }
  }
  for (Call& call : calls) {
    const auto found = known_.find(address_of(call));
    if (found != known_.end() && !found->second.empty()) {
      call.where = found->second;
    }
  }
}

}  // namespace judge
