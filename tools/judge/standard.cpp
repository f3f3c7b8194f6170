// The checks that every lab has, and what lab authors build their own from.

#include "tools/judge/lab.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

namespace judge {

std::vector<Call> Outcome::of(std::string_view verb) const {
  std::vector<Call> result;
  std::ranges::copy_if(calls, std::back_inserter(result), [&](const Call& call) { return call.verb == verb; });
  return result;
}

std::vector<Call> Outcome::succeeded(std::string_view verb) const {
  std::vector<Call> result = of(verb);
  std::erase_if(result, [](const Call& call) { return call.result != 0; });
  return result;
}

std::vector<std::string> Outcome::lines() const {
  std::vector<std::string> result;
  std::istringstream stream{out};
  for (std::string line; std::getline(stream, line);) {
    result.push_back(line);
  }
  return result;
}

bool Outcome::prints(std::string_view line) const {
  const auto all = lines();
  return std::ranges::find(all, line) != all.end();
}

std::string seen_calls(const std::vector<Call>& calls, std::string_view verb) {
  if (calls.empty()) {
    return "no " + std::string{verb};
  }
  std::string text{verb};
  text += calls.size() == 1 ? ", once" : ", " + std::to_string(calls.size()) + " times";
  std::set<std::string> places;
  for (const Call& call : calls) {
    places.insert(call.where);
  }
  const char* separator = ": in ";
  for (const std::string& place : places) {
    text += separator + place;
    separator = "; ";
  }
  return text;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 240;
  std::string result;
  for (const char letter : text) {
    if (letter != '\n') {
      result += letter;
    } else if (!result.empty() && !result.ends_with(" / ")) {
      result += " / ";
    }
    if (result.size() > longest) {
      return result + "...";
    }
  }
  if (result.ends_with(" / ")) {
    result.erase(result.size() - 3);
  }
  return result.empty() ? "nothing" : result;
}

namespace {

std::string describe(const Finding& finding) {
  std::string text = "[" + finding.id + "] " + finding.what;
  if (!finding.where.empty()) {
    text += ", in " + finding.where;
  }
  return text;
}

Judgement without_findings(const std::vector<Run>& runs, const Outcomes& outcomes) {
  for (const Run& run : runs) {
    const Outcome& outcome = outcomes.at(run.name);
    if (!outcome.findings.empty()) {
      const Finding& first = outcome.findings.front();
      return Failure{
          "no finding of verbs-check --strict when " + run.name,
          describe(first) +
              (outcome.findings.size() > 1 ? " (and " + std::to_string(outcome.findings.size() - 1) + " more)" : ""),
          "docs/verbs-check/" + first.id + ".md explains it; ./lab trace -- build/labs/lab-NN shows all of it",
          first.where, run.step};
    }
  }
  return {};
}

// What a verb may well fail with; EIO is the answer of an adapter that has gone away.
std::string code_for(const std::string& verb) {
  return verb == "ibv_alloc_pd" || verb == "ibv_reg_mr" || verb.starts_with("ibv_post_") ? "ENOMEM" : "EIO";
}

bool cannot_fail(const std::string& verb) {
  return verb == "ibv_free_device_list" || verb.starts_with("ibv_ack_") || verb.starts_with("rdma_free");
}

bool destroys(const std::string& verb) {
  return verb.starts_with("ibv_destroy_") || verb.starts_with("ibv_dealloc_") || verb.starts_with("ibv_dereg_") ||
         verb.starts_with("ibv_close_");
}

bool makes(const std::string& verb) {
  return verb.starts_with("ibv_create_") || verb.starts_with("ibv_alloc_") || verb.starts_with("ibv_reg_") ||
         verb == "ibv_open_device" || verb == "ibv_get_device_list";
}

struct Numbered {
  const Call* call;
  unsigned number;  // of the calls of its verb in the process, from 1
};

// Of a verb that is called at one place several times: the first call, when nothing is there yet, and the last one,
// when all the others have been made. Polls that find nothing are not in the trace, so of ibv_poll_cq only the first
// has a number that is known.
std::vector<Numbered> calls_to_fail(const Outcome& outcome) {
  std::map<std::string, unsigned> counts;
  std::map<std::pair<std::string, std::string>, std::vector<Numbered>> groups;
  for (const Call& call : outcome.calls) {
    const unsigned number = ++counts[call.verb];
    if (!cannot_fail(call.verb) && (call.verb != "ibv_poll_cq" || number == 1)) {
      groups[{call.verb, call.where}].push_back({&call, number});
    }
  }
  std::vector<Numbered> chosen;
  for (const auto& [key, group] : groups) {
    chosen.push_back(group.front());
    if (group.size() > 1) {
      chosen.push_back(group.back());
    }
  }
  return chosen;
}

std::string name_of(const Run& run, const Numbered& failed) {
  return run.name + ", and " + failed.call->verb + " number " + std::to_string(failed.number) + " fails with " +
         code_for(failed.call->verb);
}

// An object that could not be destroyed stays, and with it all that it was made of.
std::set<std::string> staying_with(const std::string& object, const Outcome& clean_run) {
  std::set<std::string> stays{object};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Call& call : clean_run.calls) {
      if (!call.object.empty() && stays.contains(call.object)) {
        for (const std::string& used : call.uses) {
          grew = stays.insert(used).second || grew;
        }
      }
    }
  }
  return stays;
}

// What was made and not destroyed, but for what stays. A device that is closed all the same takes them along: what
// verbs-check says then names only those that nobody else uses.
std::optional<Call> left_behind(const Outcome& outcome, const std::set<std::string>& stays) {
  const auto is_gone = [&](const Call& made) {
    return std::ranges::any_of(outcome.calls, [&](const Call& call) {
      return call.object == made.object && call.result == 0 &&
             (destroys(call.verb) || call.verb == "ibv_free_device_list");
    });
  };
  for (const Call& call : outcome.calls) {
    if (makes(call.verb) && call.result == 0 && !call.object.empty() && !stays.contains(call.object) &&
        !is_gone(call)) {
      return call;
    }
  }
  return {};
}

// Whether a message tells an error: "EIO", or what strerror says of it.
bool tells(const std::string& message, const std::string& code) {
  const char* const text = strerrordesc_np(code == "EIO" ? EIO : ENOMEM);
  return message.find(code) != std::string::npos || message.find(text) != std::string::npos;
}

Judgement judge_failed_call(const Run& run, const Numbered& failed, const Outcome& clean_run, const Outcome& outcome,
                            const std::vector<std::string>& with_code) {
  const std::string& verb = failed.call->verb;
  const std::string when = name_of(run, failed);
  const char* const leaves_out =
      "a path on which an error is thrown or returned leaves out a destroy verb: let an owner do it";
  if (outcome.err.find(verb) == std::string::npos) {
    return Failure{"a message on standard error that names " + verb + " when " + when,
                   "on standard error: " + excerpt(outcome.err) + "; the call is in " + failed.call->where,
                   "its result is not looked at: give it to lab::check or lab::check_errno", failed.call->where};
  }
  if (std::ranges::find(with_code, verb) != with_code.end() && !tells(outcome.err, code_for(verb))) {
    return Failure{"a message on standard error that says " + code_for(verb) + " when " + when,
                   "on standard error: " + excerpt(outcome.err) + "; the call is in " + failed.call->where,
                   "errno is looked at, or nothing: the error is what this verb returns, and errno may hold anything",
                   failed.call->where};
  }
  const auto stays = destroys(verb) ? staying_with(failed.call->object, clean_run) : std::set<std::string>{};
  for (const Finding& finding : outcome.findings) {
    const bool known = std::ranges::any_of(clean_run.findings, [&](const Finding& other) {
      return other.id == finding.id && other.where == finding.where;
    });
    const bool follows = std::ranges::any_of(stays, [&](const std::string& object) {
      const std::string about = finding.objects + finding.what;
      const auto at = about.find(object);
      return at != std::string::npos && std::isdigit(about[at + object.size()]) == 0;
    });
    if (!known && !follows) {
      return Failure{"everything that was made is destroyed when " + when, describe(finding), leaves_out,
                     finding.where};
    }
  }
  if (const auto left = left_behind(outcome, stays)) {
    return Failure{"everything that was made is destroyed when " + when,
                   left->object + " is left, which was made in " + left->where, leaves_out, left->where};
  }
  return {};
}

}  // namespace

Check clean(unsigned points, std::vector<Run> runs, std::vector<std::string> needs, int step) {
  return {.id = "clean",
          .points = points,
          .title = "verbs-check --strict finds nothing",
          .read = "06 Pitfalls",
          .step = step,
          .needs = std::move(needs),
          .runs = runs,
          .judge = [runs](const Outcomes& outcomes) { return without_findings(runs, outcomes); }};
}

Check sanitized(unsigned points, std::vector<Run> runs, std::vector<std::string> needs, int step) {
  for (Run& run : runs) {
    run.name += ", sanitized";
    run.build = Build::sanitized;
  }
  return {.id = "sanitized",
          .points = points,
          .title = "the sanitizers report nothing",
          .read = "06 Pitfalls",
          .step = step,
          .needs = std::move(needs),
          .runs = std::move(runs)};  // that it ends as it should is all: a report changes the exit status
}

Check faults(unsigned points, const Run& run, std::vector<std::string> needs, int step,
             std::vector<std::string> with_code) {
  const auto more = [run](const Outcomes& outcomes) {
    std::vector<Run> runs;
    for (const Numbered& failed : calls_to_fail(outcomes.at(run.name))) {
      Run again = run;
      again.name = name_of(run, failed);
      again.fail = failed.call->verb + ":" + std::to_string(failed.number) + "=" + code_for(failed.call->verb);
      again.exit_status = 1;
      runs.push_back(std::move(again));
    }
    return runs;
  };
  const auto judge = [run, with_code = std::move(with_code)](const Outcomes& outcomes) -> Judgement {
    const Outcome& clean_run = outcomes.at(run.name);
    for (const Numbered& failed : calls_to_fail(clean_run)) {
      // Those behind a failure were not made.
      const auto made = outcomes.find(name_of(run, failed));
      if (made == outcomes.end()) {
        break;
      }
      if (auto judgement = judge_failed_call(run, failed, clean_run, made->second, with_code)) {
        return judgement;
      }
    }
    return {};
  };
  return {.id = "faults",
          .points = points,
          .title = "each verb that fails is reported, and nothing leaks",
          .read = "01 The code",
          .step = step,
          .needs = std::move(needs),
          .runs = {run},
          .judge = judge,
          .more = more};
}

Check arguments(unsigned points, const std::vector<std::vector<std::string>>& lines, std::vector<std::string> needs,
                int step) {
  std::vector<Run> runs;
  for (const auto& line : lines) {
    Run run{.name = "the arguments are", .arguments = line, .exit_status = 2};
    for (const std::string& word : line) {
      run.name += " '" + word + "'";
    }
    runs.push_back(std::move(run));
  }
  const auto judge = [runs](const Outcomes& outcomes) -> Judgement {
    for (const Run& run : runs) {
      if (outcomes.at(run.name).err.empty()) {
        return Failure{"a message on standard error when " + run.name, "nothing there"};
      }
    }
    return {};
  };
  return {.id = "arguments",
          .points = points,
          .title = "wrong arguments are refused with exit status 2",
          .read = "01 The code",
          .step = step,
          .needs = std::move(needs),
          .runs = runs,
          .judge = judge};
}

}  // namespace judge
