// In which order things are looked at, and what is held against every run.

#include "tools/judge/verdict.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

namespace judge {

namespace {

// The first error of a compiler or linker, without the wall around it.
std::string first_error(const std::string& log) {
  std::istringstream lines{log};
  std::string line;
  std::string last;
  while (std::getline(lines, line)) {
    for (const char* const sign : {"error: ", "undefined reference", "multiple definition"}) {
      if (line.find(sign) != std::string::npos) {
        // The path of the checkout says nothing here.
        const auto name = line.find("lab.cpp");
        return name == std::string::npos ? line : line.substr(name);
      }
    }
    last = line.empty() ? last : line;
  }
  return last;
}

std::string sanitizer_report(const std::string& err) {
  std::istringstream lines{err};
  std::string line;
  std::string report;
  while (std::getline(lines, line)) {
    if (report.empty() &&
        (line.find("Sanitizer: ") != std::string::npos || line.find("runtime error: ") != std::string::npos)) {
      report = line;
    } else if (!report.empty() && line.find("lab.cpp:") != std::string::npos) {
      line.erase(0, line.find("lab.cpp:"));
      return report + ", " + line.substr(0, line.find(')'));
    }
  }
  return report;
}

std::string last_call(const Outcome& outcome) {
  if (outcome.calls.empty()) {
    return {};
  }
  return "; the last verb was " + outcome.calls.back().verb + " in " + outcome.calls.back().where;
}

std::string first_finding(const Outcome& outcome) {
  if (outcome.findings.empty()) {
    return {};
  }
  return "; verbs-check says [" + outcome.findings.front().id + "] " + outcome.findings.front().what + ", in " +
         outcome.findings.front().where;
}

std::string signal_name(int number) {
  const char* const name = sigabbrev_np(number);  // null for one of the real-time signals
  return name == nullptr ? "signal " + std::to_string(number) : std::string{"SIG"} + name;
}

// Whether a verb was refused, or a completion is one of a request that has failed.
bool shows_failure(const Call& call) {
  const bool polls = call.verb == "ibv_poll_cq";  // its result is a number of completions
  return (polls ? call.result < 0 : call.result != 0) ||
         std::ranges::any_of(call.completions, [](const nlohmann::json& completion) {
           return completion.value("status", "IBV_WC_SUCCESS") != "IBV_WC_SUCCESS";
         });
}

// Why the exit status is another one.
std::string likely_cause(const Run& run, const Outcome& outcome) {
  if (run.exit_status == 1 && outcome.status == 0) {
    return std::ranges::any_of(outcome.calls, shows_failure)
               ? "a failure is passed over: the result is not looked at"
               : "no verb says what is wrong here: the program has to notice it itself";
  }
  if (outcome.err.find("EBUSY") != std::string::npos) {
    return "something is destroyed before what lives in it; members, and local objects, go in the reverse order of "
           "their declaration";
  }
  return {};
}

struct Held {
  Status status;
  Failure why;
  int step = 0;  // that of the run
};

// What holds for every run, whatever it is for.
std::optional<Held> hold(const Run& run, const Outcome& outcome) {
  const std::string when = " when " + run.name;
  if (outcome.cut) {
    return Held{Status::error,
                {{},
                 "the trace" + when +
                     " could not be written to its end: the disk of the host is full, or the submission "
                     "has called more verbs than a trace holds (16 MiB), or has set a limit of its own" +
                     last_call(outcome)}};
  }
  if (outcome.end == box::End::timeout) {
    std::ostringstream limit;
    limit << outcome.seconds;
    return Held{
        Status::timeout,
        {"the program ends" + when,
         "it still ran after " + limit.str() + " s" + last_call(outcome) + first_finding(outcome),
         "it waits for something that cannot come; a loop that polls needs a deadline. On a machine that is slow or "
         "busy: LAB_TIME_SCALE=3 ./lab check"}};
  }
  if (outcome.end == box::End::output) {
    return Held{Status::fail, {"a few lines of output" + when, "more than 256 KiB", "a loop without an end prints"}};
  }
  if (const auto report = sanitizer_report(outcome.err); run.build == Build::sanitized && !report.empty()) {
    return Held{Status::fail, {"no report of the sanitizers" + when, report}};
  }
  if (outcome.end == box::End::signalled) {
    return Held{Status::fail,
                {"the program ends by itself" + when,
                 "it was ended by " + signal_name(outcome.status) + last_call(outcome) + first_finding(outcome),
                 "a pointer that is null or dead, most often: compile with sanitizers, or run it under gdb"}};
  }
  if (!outcome.forged.empty()) {
    return Held{
        Status::fail,
        {"a trace that verbs-check alone has written" + when, "a line of another hand: " + excerpt(outcome.forged)}};
  }
  if (run.exit_status != any_status && outcome.status != run.exit_status) {
    return Held{Status::fail,
                {"exit status " + std::to_string(run.exit_status) + when,
                 "exit status " + std::to_string(outcome.status) + "; on standard error: " + excerpt(outcome.err) +
                     first_finding(outcome),
                 likely_cause(run, outcome)}};
  }
  if (outcome.left > 0) {
    return Held{
        Status::fail,
        {"no process is left behind" + when, std::to_string(outcome.left) + " still ran when the program had ended"}};
  }
  return {};
}

// "03 The verbs" is a section of a chapter.
std::string page_of(const std::string& read) {
  for (const auto& entry : std::filesystem::directory_iterator{std::string{LAB_SOURCE} + "/chapters"}) {
    const std::string folder = entry.path().filename().string();
    if (read.size() > 3 && folder.starts_with(read.substr(0, 2) + "-")) {
      return "chapters/" + folder + "/README.md, \"" + read.substr(3) + "\"";
    }
  }
  return read;
}

class Judge {
public:
  Judge(const Lab& lab, Session& session) : lab_{lab}, session_{session} {}

  std::vector<Verdict> judge(const std::string& log) {
    Verdict builds{.id = "builds", .title = "it compiles", .max_points = build_points, .read = {}};
    if (log.empty()) {
      builds.status = Status::pass;
      builds.points = build_points;
    } else {
      builds.status = Status::fail;
      builds.why = {"no error of the compiler", first_error(log), {}};
    }
    verdicts_.push_back(builds);
    for (const Check& check : lab_.checks) {
      verdicts_.push_back({.id = check.id,
                           .title = check.title,
                           .max_points = check.points,
                           .read = page_of(check.read),
                           .step = check.step});
    }
    open_.assign(lab_.checks.size(), true);
    if (!log.empty()) {
      for (std::size_t at = 0; at < lab_.checks.size(); ++at) {
        verdicts_[at + 1].why.seen = "it does not compile";
      }
      return verdicts_;
    }
    while (std::ranges::find(open_, true) != open_.end()) {
      judge_round();
    }
    return verdicts_;
  }

private:
  [[nodiscard]] const Verdict& of(const std::string& id) const {
    const auto found = std::ranges::find(verdicts_, id, &Verdict::id);
    if (found == verdicts_.end()) {
      throw Trouble{"the lab has no check '" + id + "'"};
    }
    return *found;
  }

  // Why what needs this check is skipped: "'client' has failed"; where it was itself skipped, what is behind that.
  [[nodiscard]] std::string why_not(const std::string& id) const {
    const Verdict& verdict = of(id);
    switch (verdict.status) {
      case Status::skip:
        return verdict.why.seen;
      case Status::timeout:
        return "'" + id + "' took too long";
      case Status::error:
        return "'" + id + "' was not judged";
      default:
        return "'" + id + "' has failed";
    }
  }

  [[nodiscard]] bool decided(const std::string& id) const {
    for (std::size_t at = 0; at < lab_.checks.size(); ++at) {
      if (lab_.checks[at].id == id) {
        return !open_[at];
      }
    }
    return true;
  }

  void make(std::vector<Run> runs) {
    std::set<std::string> names;
    std::erase_if(runs, [&](const Run& run) { return outcomes_.contains(run.name) || !names.insert(run.name).second; });
    if (!runs.empty()) {
      outcomes_.merge(session_.run(runs));
    }
  }

  // The runs of all checks that are still open. When the first check has passed they are made side by side, so that no
  // host waits for the other one; for whoever fails a later check that is a moment more, and for all others less. With
  // one host there is nothing to win.
  [[nodiscard]] std::vector<Run> runs_of_open() const {
    std::vector<Run> runs;
    for (std::size_t at = 0; at < lab_.checks.size(); ++at) {
      if (open_[at]) {
        runs.insert(runs.end(), lab_.checks[at].runs.begin(), lab_.checks[at].runs.end());
      }
    }
    return runs;
  }

  // The further runs of a check, in parts: when one of them shows a failure there is nothing to learn from the rest.
  // What was made is added to `made`.
  void make_more(const Check& check, std::vector<Run>& made) {
    constexpr std::size_t part = 16;
    const std::vector<Run> runs = check.more(outcomes_);
    for (std::size_t at = 0; at < runs.size(); at += part) {
      const std::vector<Run> now{&runs[at], &runs[at] + std::min(part, runs.size() - at)};
      make(now);
      made.insert(made.end(), now.begin(), now.end());
      if (held(now) || (check.judge && check.judge(outcomes_))) {
        return;
      }
    }
  }

  // All checks whose needs are known.
  void judge_round() {
    std::vector<std::size_t> now;
    std::vector<Run> runs;
    for (std::size_t at = 0; at < lab_.checks.size(); ++at) {
      const Check& check = lab_.checks[at];
      if (!open_[at] || !std::ranges::all_of(check.needs, [&](const auto& id) { return decided(id); })) {
        continue;
      }
      const auto missing =
          std::ranges::find_if(check.needs, [&](const auto& id) { return of(id).status != Status::pass; });
      if (missing != check.needs.end()) {
        verdicts_[at + 1].why.seen = why_not(*missing);
        open_[at] = false;
        continue;
      }
      now.push_back(at);
      runs.insert(runs.end(), check.runs.begin(), check.runs.end());
    }
    if (session_.shares() && !now.empty() && std::ranges::find(open_, false) != open_.end()) {
      runs = runs_of_open();
    }
    make(std::move(runs));
    std::map<std::size_t, std::vector<Run>> of_check;
    for (const std::size_t at : now) {
      const Check& check = lab_.checks[at];
      of_check[at] = check.runs;
      guarded(at, [&] {
        if (check.more && !held(check.runs)) {
          make_more(check, of_check[at]);
        }
      });
    }
    for (const std::size_t at : now) {
      if (open_[at]) {
        guarded(at, [&] { decide(lab_.checks[at], of_check[at], verdicts_[at + 1]); });
        open_[at] = false;
      }
    }
  }

  // What a check does that has not thought of this submission is an error of that check alone.
  template <class Work>
  void guarded(std::size_t at, Work work) {
    try {
      work();
    } catch (const std::exception& error) {
      verdicts_[at + 1].status = Status::error;
      verdicts_[at + 1].why.seen = std::string{"the check itself has failed: "} + error.what();
      open_[at] = false;
    }
  }

  [[nodiscard]] std::optional<Held> held(const std::vector<Run>& runs) const {
    for (const Run& run : runs) {
      if (auto against = hold(run, outcomes_.at(run.name))) {
        against->step = run.step;
        return against;
      }
    }
    return {};
  }

  // Whose hints help.
  [[nodiscard]] int step_of(const Failure& failure, int otherwise) const {
    // "Game::be_client, lab.cpp:71"
    std::string function = failure.where.substr(0, failure.where.find(','));
    if (const auto scope = function.rfind("::"); scope != std::string::npos) {
      function.erase(0, scope + 2);
    }
    const auto known = lab_.steps.find(function);
    return known != lab_.steps.end() ? known->second : failure.step != 0 ? failure.step : otherwise;
  }

  void decide(const Check& check, const std::vector<Run>& runs, Verdict& verdict) const {
    if (const auto against = held(runs)) {
      verdict.status = against->status;
      verdict.why = against->why;
      verdict.step = against->step != 0 ? against->step : check.step;
    } else if (const auto failure = check.judge ? check.judge(outcomes_) : Judgement{}) {
      verdict.status = Status::fail;
      verdict.why = *failure;
      verdict.step = step_of(*failure, check.step);
    } else {
      verdict.status = Status::pass;
      verdict.points = verdict.max_points;
    }
  }

  const Lab& lab_;
  Session& session_;
  Outcomes outcomes_;
  std::vector<Verdict> verdicts_;
  std::vector<bool> open_;
};

}  // namespace

Report judge_submission(const Lab& lab, Session& session, const std::string& log) {
  Report report{.lab = lab.name, .title = lab.title};
  try {
    report.verdicts = Judge{lab, session}.judge(log);
    report.device = session.device();
  } catch (const Trouble& trouble) {
    report.verdicts = {Verdict{.id = "builds",
                               .title = "it compiles",
                               .max_points = build_points,
                               .status = Status::error,
                               .why = {.expected = {}, .seen = trouble.what()},
                               .read = {}}};
    for (const Check& check : lab.checks) {
      report.verdicts.push_back({.id = check.id,
                                 .title = check.title,
                                 .max_points = check.points,
                                 .status = Status::error,
                                 .why = {.expected = {}, .seen = trouble.what()},
                                 .read = {}});
    }
  }
  return report;
}

unsigned Report::points() const {
  unsigned sum = 0;
  for (const Verdict& verdict : verdicts) {
    sum += verdict.points;
  }
  return sum;
}

unsigned Report::max_points() const {
  unsigned sum = 0;
  for (const Verdict& verdict : verdicts) {
    sum += verdict.max_points;
  }
  return sum;
}

bool Report::passed() const {
  return std::ranges::all_of(verdicts, [](const Verdict& verdict) { return verdict.status == Status::pass; });
}

}  // namespace judge
