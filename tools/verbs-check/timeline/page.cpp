#include "timeline/page.hpp"

#include "timeline/assets.hpp"
#include "timeline/teller.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace timeline {

namespace {

// JavaScript's numbers are exact up to here; what is larger becomes text.
constexpr std::int64_t exact = std::int64_t{1} << 53;

void make_exact(Json& value) {
  if (value.is_number_integer() && (value.get<std::int64_t>() > exact || value.get<std::int64_t>() < -exact)) {
    value = value.dump();
  }
  if (value.is_structured()) {
    for (Json& part : value) {
      make_exact(part);
    }
  }
}

const char* errno_name(std::int64_t code) {
  const char* const name = code > 0 && code < 4096 ? strerrorname_np(static_cast<int>(code)) : nullptr;
  return name == nullptr ? "" : name;
}

// Renumbers what is kept: the place of each in the page, or null.
class Places {
public:
  explicit Places(const std::vector<bool>& kept) : places_(kept.size(), none) {
    for (Index i = 0; i < kept.size(); ++i) {
      if (kept[i]) {
        places_[i] = count_++;
      }
    }
  }
  [[nodiscard]] Json operator[](Index i) const { return i == none || places_[i] == none ? Json() : Json(places_[i]); }

private:
  std::vector<Index> places_;
  Index count_ = 0;
};

class Data {
public:
  Data(const Story& story, const Selection& selection)
      : story_{story},
        selection_{selection},
        calls_{selection.calls},
        objects_{selection.objects},
        requests_{selection.requests},
        processes_{used_processes()} {
    origin_ = std::numeric_limits<Time>::max();
    for (const Process& process : story.processes) {
      origin_ = std::min(origin_, process.from);
    }
  }

  [[nodiscard]] Json json() const {
    Json data;
    data["processes"] = each(story_.processes, used_processes(), [&](const Process& process) {
      return Json{{"trace", process.trace}, {"pid", process.pid},       {"program", process.program},
                  {"host", process.host},   {"from", at(process.from)}, {"to", at(process.to)}};
    });
    data["objects"] = each(story_.objects, selection_.objects, [&](const Object& object) {
      return Json{{"name", object.name},
                  {"process", processes_[object.process]},
                  {"owner", objects_[object.owner]},
                  {"from", at(object.from)},
                  {"to", at(object.to)},
                  {"made", calls_[object.made]},
                  {"destroyed", calls_[object.destroyed]},
                  {"isMade", object.made != none},
                  {"isAlive", object.is_alive},
                  {"number", object.number ? Json(*object.number) : Json()}};
    });
    data["states"] = Json::array();
    for (const State& state : story_.states) {
      if (selection_.objects[state.object] && selection_.calls[state.call]) {
        data["states"].push_back({{"object", objects_[state.object]},
                                  {"name", state.name},
                                  {"from", at(state.from)},
                                  {"to", at(state.to)},
                                  {"call", calls_[state.call]},
                                  {"isInferred", state.is_inferred}});
      }
    }
    data["calls"] = each(story_.calls, selection_.calls, [&](const Call& call) { return call_json(call); });
    data["requests"] = each(story_.requests, selection_.requests, [&](const Request& request) {
      // Without a post it is called by its completion's time alone.
      return Json{{"object", objects_[request.object]},
                  {"isSend", request.is_send},
                  {"wrId", std::to_string(static_cast<std::uint64_t>(request.wr_id))},
                  {"from", at(request.from)},
                  {"to", at(request.to)},
                  {"end", end_name(request.end)},
                  {"isPosted", request.post != none},
                  {"post", calls_[request.post]},
                  {"postAt", request.post_at},
                  {"completion", calls_[request.completion]},
                  {"completionAt", request.completion_at},
                  {"length", request.length}};
    });
    data["messages"] = Json::array();
    for (const Message& message : story_.messages) {
      if (selection_.requests[message.send] && selection_.requests[message.receive]) {
        data["messages"].push_back({requests_[message.send], requests_[message.receive]});
      }
    }
    data["findings"] = each(story_.findings, selection_.findings, [&](const Finding& finding) {
      return Json{{"time", at(finding.time)},
                  {"process", processes_[finding.process]},
                  {"object", objects_[finding.object]},
                  {"call", calls_[finding.call]},
                  {"id", finding.id},
                  {"what", finding.what},
                  {"objects", finding.objects},
                  {"where", finding.where}};
    });
    data["gaps"] = Json::array();
    for (const Gap& gap : selection_.gaps) {
      data["gaps"].push_back({{"from", at(gap.from)}, {"to", at(gap.to)}, {"what", gap.what}});
    }
    return data;
  }

private:
  [[nodiscard]] Time at(Time time) const { return time - origin_; }

  template <class Things, class Convert>
  static Json each(const Things& things, const std::vector<bool>& kept, Convert convert) {
    Json list = Json::array();
    for (Index i = 0; i < things.size(); ++i) {
      if (kept[i]) {
        list.push_back(convert(things[i]));
      }
    }
    return list;
  }

  [[nodiscard]] Json call_json(const Call& call) const {
    Json line = Json::parse(call.line);
    make_exact(line);
    return Json{{"time", at(call.time)},
                {"process", processes_[call.process]},
                {"thread", call.thread},
                {"verb", call.verb},
                {"object", objects_[call.object]},
                {"name", line.value("object", Json(""))},
                {"result", line["result"]},
                {"isFailed", call.is_failed},
                {"errno", call.is_failed ? errno_name(line["result"].get<std::int64_t>()) : ""},
                {"where", line.value("where", Json(""))},
                {"args", line.value("args", Json::object())},
                {"uses", line.value("uses", Json::array())},
                {"completions", line.value("completions", Json::array())}};
  }

  [[nodiscard]] std::vector<bool> used_processes() const {
    std::vector<bool> used(story_.processes.size());
    for (Index i = 0; i < story_.calls.size(); ++i) {
      used[story_.calls[i].process] = used[story_.calls[i].process] || selection_.calls[i];
    }
    for (Index i = 0; i < story_.findings.size(); ++i) {
      used[story_.findings[i].process] = used[story_.findings[i].process] || selection_.findings[i];
    }
    return used;
  }

  const Story& story_;
  const Selection& selection_;
  Places calls_;
  Places objects_;
  Places requests_;
  Places processes_;
  Time origin_ = 0;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

// Within a script element nothing may look like its end.
std::string script_safe(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (const char character : text) {
    if (character == '<') {
      result += "\\u003c";
    } else {
      result += character;
    }
  }
  return result;
}

}  // namespace

std::string page(const Story& story, const Selection& selection, const std::vector<Source>& sources,
                 const std::string& clocks) {
  Json data = Data{story, selection}.json();
  data["clocks"] = clocks;
  data["traces"] = Json::array();
  std::string title;
  for (const Source& source : sources) {
    data["traces"].push_back({{"name", source.name}, {"lines", source.lines}, {"skipped", source.skipped}});
    title += (title.empty() ? "" : ", ") + source.name;
  }
  std::string result;
  std::string_view rest = assets::page;
  // The template names its parts: {{title}}.
  for (std::size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    result += rest.substr(0, open);
    rest.remove_prefix(open + 2);
    const std::string_view name = rest.substr(0, rest.find("}}"));
    rest.remove_prefix(name.size() + 2);
    if (name == "title") {
      result += escaped(title);
    } else if (name == "style") {
      result += assets::style;
    } else if (name == "script") {
      result += assets::script;
    } else if (name == "data") {
      result += script_safe(data);
    }
  }
  result += rest;
  return result;
}

}  // namespace timeline
