/// @file
/// What a lab consists of for the judge: runs of the submission, and checks that look at what became of them.
/// labs/NN-name/checks.cpp defines one, and nothing else: lab() below.
#pragma once

#include "tools/judge/box.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace judge {

/// Which build of the submission runs, and under what.
enum class Build {
  checked,    ///< under verbs-check --strict, with a trace
  sanitized,  ///< with AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer; no trace
};

/// What the other host does meanwhile.
struct Peer {
  std::vector<std::string> command;  ///< its words, with the same placeholders as Run::arguments
  bool listens = false;              ///< it is the server: the submission starts when it listens on {port}
};

/// For Run::exit_status: the check does not look at it.
constexpr int any_status = -1;

/// One run of the submission.
///
/// In arguments "{port}" stands for a TCP port that is free, the same one in the whole run; "{peer}" for the address of
/// the other host; "{device}" for the name of an RDMA device of the host; "{patience}" for the seconds that a side
/// shall wait for the other one, stretched as `limit` is; "{moment}" for those that it shall wait where nothing will
/// come, stretched too; "{program}", in the command of a peer, for the submission's plain build: it plays both sides.
struct Run {
  std::string name;                    ///< unique in the lab; what messages call it
  std::vector<std::string> arguments;  ///< of the submission
  int exit_status = 0;  ///< with which it has to end; another one fails every check that looks at this run
  Build build = Build::checked;
  std::string input{};                      ///< standard input
  std::string fail{};                       ///< --fail of verbs-check: "ibv_create_qp:2=ENOMEM"
  std::string fail_completion{};            ///< --fail-completion of verbs-check
  std::string world{};                      ///< how the device behaves, in words of world.cpp: "scribbles,dribbles"
  std::chrono::milliseconds limit{10'000};  ///< after which it is ended; LAB_TIME_SCALE stretches it
  std::optional<Peer> peer{};
  /// Words of a stock tool that runs there in the place of the submission: what it prints is what holds on this device.
  std::vector<std::string> tool{};
  /// What it does is compared with what a tool says: not to be given to the other host. So is a run that is a tool, or
  /// names "{device}".
  bool here = false;
  int step = 0;  ///< of the task: whose hints help when this run goes wrong; 0: those of the check
};

/// A call of a verb, from the trace; docs/verbs-check/trace.md explains the fields.
struct Call {
  std::string verb;
  std::string object;  ///< "PD #1", or empty
  int result = 0;      ///< 0 or an errno value; of ibv_poll_cq the number of completions
  std::string where;   ///< "main, lab.cpp:31"
  std::vector<std::string> uses;
  nlohmann::json arguments;    ///< args
  nlohmann::json completions;  ///< of ibv_poll_cq
};

/// A finding of verbs-check.
struct Finding {
  std::string id;
  std::string what;
  std::string where;
  std::string objects;  ///< "PD #1 (made in come, lab.cpp:47)"; several are separated by commas
};

/// What became of a run.
struct Outcome {
  box::End end = box::End::exited;
  int status = 0;      ///< exit status, or signal
  int left = 0;        ///< processes that it left running
  double seconds = 0;  ///< wall clock
  std::string out;
  std::string err;  ///< without what verbs-check says
  std::vector<Call> calls{};
  std::vector<Finding> findings{};
  std::string forged{};                ///< a line in the trace that the checker has not written, if there is one
  bool cut = false;                    ///< the trace is not whole: there was no room for it
  std::optional<box::End> peer_end{};  ///< of the peer, where there was one
  int peer_status = 0;
  std::string peer_out{};  ///< both streams

  /// The calls of one verb, in their order.
  [[nodiscard]] std::vector<Call> of(std::string_view verb) const;
  /// Those of them that did what they were asked to.
  [[nodiscard]] std::vector<Call> succeeded(std::string_view verb) const;
  /// Whether a line of standard output is this text.
  [[nodiscard]] bool prints(std::string_view line) const;
  /// The lines of standard output.
  [[nodiscard]] std::vector<std::string> lines() const;
};

using Outcomes = std::map<std::string, Outcome, std::less<>>;  ///< by the name of the run

/// Why a check has failed, for the learner. Each is a sentence or two without a full stop at the end.
struct Failure {
  std::string expected;  ///< in verbs terms
  std::string seen;      ///< with objects and lines
  std::string likely{};  ///< the likely cause; may be empty
  std::string where{};   ///< the place of the mistake, as in Call::where, if there is one: see Lab::steps
  int step = 0;          ///< whose hints help; 0: those of the step of that place, or else of the check
};

/// Nothing: the check has passed.
using Judgement = std::optional<Failure>;

/// One thing that is looked at.
///
/// All `runs` are made, then each is held against its exit status, then `judge` looks at them. What a run must not do
/// is the same everywhere: be ended by a signal, take too long, print without end, leave a process behind.
struct Check {
  std::string id;  ///< stable: verdicts, wrong submissions and docs name it
  unsigned points = 0;
  std::string title;  ///< "each tenant has a PD of its own"
  std::string read;   ///< what to read again: "03 The verbs" is that section of that chapter
  int step = 1;       ///< of the task: whose hints help
  /// Ids; where one of them has not passed this one is skipped. The first check of a lab has none, all others need it,
  /// be it by way of another: what does nothing at all must not pass any of them.
  std::vector<std::string> needs{};
  std::vector<Run> runs{};
  std::function<Judgement(const Outcomes&)> judge{};
  /// Further runs, which depend on what became of others: the fault sweep. They are made 16 at a time, up to a failure:
  /// where there are more, `judge` is asked of the first ones alone, and must pass over those that are not there.
  std::function<std::vector<Run>(const Outcomes&)> more{};
};

struct Lab {
  std::string name;   ///< of its folder: "03-protection-domain"
  std::string title;  ///< "One protection domain per tenant"
  std::vector<Check> checks;
  /// The functions of the task's frame that a step writes, and its number: so a place leads to a step. A function that
  /// has several steps in it is not among them.
  std::map<std::string, int, std::less<>> steps{};
};

/// The lab that this judge judges.
Lab lab();

// Checks that every lab has.

/// id "clean": verbs-check --strict has no finding in these runs.
Check clean(unsigned points, std::vector<Run> runs, std::vector<std::string> needs, int step = 1);

/// id "sanitized": these runs, in the sanitized build, are without a report.
Check sanitized(unsigned points, std::vector<Run> runs, std::vector<std::string> needs, int step = 1);

/// id "faults": each call of a verb in the run fails in turn (of several at one place: the first and the last); the
/// submission says so on standard error with the name of the verb, ends with 1, and destroys what can be
/// destroyed. `with_code`: verbs whose message has to tell the error as well, by its name or text.
Check faults(unsigned points, const Run& run, std::vector<std::string> needs, int step = 1,
             std::vector<std::string> with_code = {});

/// id "arguments": with each of these command lines the submission ends with 2 and says something on standard error.
Check arguments(unsigned points, const std::vector<std::vector<std::string>>& lines, std::vector<std::string> needs,
                int step = 1);

/// "ibv_alloc_pd twice, at open_all, lab.cpp:31 and 34"; "no ibv_alloc_pd".
std::string seen_calls(const std::vector<Call>& calls, std::string_view verb);

/// The text on one line, shortened: what a program printed, for a message.
std::string excerpt(std::string_view text);

}  // namespace judge
