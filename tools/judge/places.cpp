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

}  // namespace

std::vector<std::string> Places::addresses_in(const std::string& text) const {
  const std::string start = base_name(program_) + "+0x";
  std::vector<std::string> found;
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const std::size_t digits = at + start.size();
    found.push_back("0x" + text.substr(digits, text.find_first_not_of("0123456789abcdef", digits) - digits));
  }
  return found;
}

void Places::learn(const std::set<std::string>& addresses) {
  std::string command = "addr2line -afiCe " + shell_word(program_);
  std::vector<std::string> wanted;
  for (const std::string& address : addresses) {
    if (known_.try_emplace(address).second) {
      command += " " + address;
      wanted.push_back(address);
    }
  }
  if (wanted.empty()) {
    return;
  }
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

std::string Places::replaced(const std::string& text) const {
  std::string result = text;
  for (const std::string& address : addresses_in(text)) {
    const auto found = known_.find(address);
    const std::string raw = base_name(program_) + "+" + address;
    const auto at = result.find(raw);
    if (found != known_.end() && !found->second.empty() && at != std::string::npos) {
      result.replace(at, raw.size(), found->second);
    }
  }
  return result;
}

void Places::look_up(Outcome& outcome) {
  std::set<std::string> addresses;
  const auto collect = [&](const std::string& text) {
    for (std::string& address : addresses_in(text)) {
      addresses.insert(std::move(address));
    }
  };
  for (const Call& call : outcome.calls) {
    collect(call.where);
  }
  for (const Finding& finding : outcome.findings) {
    collect(finding.where);
    collect(finding.what);
    collect(finding.objects);
  }
  learn(addresses);
  for (Call& call : outcome.calls) {
    call.where = replaced(call.where);
  }
  for (Finding& finding : outcome.findings) {
    finding.where = replaced(finding.where);
    finding.what = replaced(finding.what);
    finding.objects = replaced(finding.objects);
  }
}

void Places::look_up(std::string& text) {
  const auto found = addresses_in(text);
  learn({found.begin(), found.end()});
  text = replaced(text);
}

}  // namespace judge
