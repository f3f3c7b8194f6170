#include "tools/judge/trace.hpp"

#include <sstream>

namespace judge {

namespace {

using nlohmann::json;

Call read_call(const json& line) {
  Call call;
  call.verb = line.at("verb");
  call.object = line.value("object", "");
  call.result = line.value("result", 0);
  call.where = line.value("where", "");
  call.uses = line.value("uses", std::vector<std::string>{});
  call.arguments = line.value("args", json::object());
  call.completions = line.value("completions", json::array());
  return call;
}

}  // namespace

void read_trace(const std::string& text, const std::string& key, Outcome& outcome) {
  std::istringstream lines{text};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty()) {
      continue;  // the checker begins with one, wherever it goes on after somebody else
    }
    const std::string start = key + ' ';
    if (start.starts_with(line) && lines.eof()) {  // half a line: there was no room for the rest
      outcome.cut = true;
      continue;
    }
    if (!line.starts_with(start)) {
      outcome.forged = outcome.forged.empty() ? line : outcome.forged;
      continue;
    }
    const json event = json::parse(line.substr(key.size() + 1), nullptr, false);
    if (!event.is_object()) {  // that, too
      outcome.cut = true;
      continue;
    }
    if (event.contains("verb")) {
      outcome.calls.push_back(read_call(event));
    } else if (event.value("event", "") == "finding") {
      outcome.findings.push_back(
          {event.at("id"), event.at("what"), event.value("where", ""), event.value("objects", "")});
    }
  }
}

}  // namespace judge
