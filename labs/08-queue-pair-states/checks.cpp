// What lab 08 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace judge {

namespace {

using States = std::vector<std::string>;

// The QP a is made first, so it is the first in the trace.
constexpr const char* a = "QP #1";
constexpr const char* b = "QP #2";

// From each state to each other one, and twice to the one in which it is.
const States visited{"RESET", "INIT", "RESET", "RTR", "RESET", "RTS", "RTS", "RESET", "ERR", "INIT", "RTR",  "INIT",
                     "RTS",   "INIT", "ERR",   "RTR", "RTS",   "RTR", "ERR", "ERR",   "RTS", "ERR",  "RESET"};

Run tour() {
  Run run{.name = "a goes from each state to each other one"};
  for (const std::string& state : visited) {
    run.arguments.push_back("a:" + state);
  }
  return run;
}

const Run message{.name = "a message goes from a to b", .arguments = {"a:RTS", "b:RTS", "send"}};
const Run unanswered{.name = "nobody answers a message, and a is to be in RTS again",
                     .arguments = {"a:RTS", "b:INIT", "send", "a:RTS"}};
const Run one_side{.name = "one of two connected QPs is in ERR, and both recover",
                   .arguments = {"a:RTS", "b:RTS", "send", "a:ERR", "recover", "send", "b:ERR", "recover", "send"}};
const Run both_sides{.name = "both QPs are in ERR, and recover",
                     .arguments = {"a:RTS", "b:ERR", "send", "recover", "send"}};
const Run two_steps{.name = "a goes to RTR and back", .arguments = {"a:RTR", "a:RESET"}};

Run whatever_its_status(Run run) {
  run.exit_status = any_status;
  return run;
}

// The shortest way, without the state where it begins.
States way(const std::string& from, const std::string& to) {
  static const States up{"RESET", "INIT", "RTR", "RTS"};
  if (from == to) {
    return {};
  }
  if (to == "ERR") {
    return from == "RESET" ? States{"INIT", "ERR"} : States{"ERR"};
  }
  const auto here = std::ranges::find(up, from);
  const auto there = std::ranges::find(up, to);
  if (here < there) {  // ERR is not in `up`
    return {here + 1, there + 1};
  }
  return {up.begin(), there + 1};
}

// The steps that a QP has made.
std::vector<Call> steps_of(const Outcome& outcome, std::string_view qp) {
  std::vector<Call> steps = outcome.succeeded("ibv_modify_qp");
  std::erase_if(steps, [&](const Call& call) { return call.object != qp || !call.arguments.contains("qp_state"); });
  return steps;
}

States states_of(const std::vector<Call>& steps) {
  States states;
  for (const Call& step : steps) {
    states.push_back(step.arguments.at("qp_state"));
  }
  return states;
}

std::string text(const States& states) {
  std::string result;
  for (const std::string& state : states) {
    result += (result.empty() ? "" : " ") + state;
  }
  return result.empty() ? "no step" : result;
}

// "; ibv_modify_qp to RTR has failed in step, lab.cpp:80 [qp-mask-missing] ...", or nothing.
std::string first_trouble(const Outcome& outcome) {
  std::string result;
  for (const Call& call : outcome.of("ibv_modify_qp")) {
    if (call.result != 0 && result.empty()) {
      result = "; ibv_modify_qp to " + call.arguments.value("qp_state", std::string{"no state"}) + " was refused in " +
               call.where;
    }
  }
  if (!outcome.findings.empty()) {
    result += "; verbs-check says [" + outcome.findings.front().id + "] " + outcome.findings.front().what;
  }
  if (!outcome.err.empty()) {
    result += "; on standard error: " + excerpt(outcome.err);
  }
  return result;
}

Judgement goes_the_shortest_way(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(tour().name);
  const std::vector<Call> steps = steps_of(outcome, a);
  if (steps.empty()) {
    return Failure{"a goes from RESET to INIT at the word a:INIT",
                   seen_calls(outcome.of("ibv_modify_qp"), "ibv_modify_qp") + " for it" + first_trouble(outcome)};
  }
  if (const auto others = steps_of(outcome, b); !others.empty()) {
    return Failure{"b stays in RESET while all words are about a", seen_calls(others, "ibv_modify_qp") + " for b"};
  }
  const States seen = states_of(steps);
  std::size_t at = 0;
  std::string from = "RESET";
  for (const std::string& to : visited) {
    for (const std::string& next : way(from, to)) {
      if (at >= seen.size() || seen[at] != next) {
        const std::string there = at >= seen.size() ? "none" : "to " + seen[at] + ", in " + steps[at].where;
        const bool goes_down = at < seen.size() && seen[at] == "RESET";
        return Failure{"from " + from + " to " + to + " by the steps " + text(way(from, to)),
                       "in the place of the step to " + next + ": " + there + first_trouble(outcome),
                       goes_down ? "RESET is on the way only where no step leads on" : ""};
      }
      ++at;
    }
    from = to;
  }
  if (at != seen.size()) {
    return Failure{"no step when a is in the state already", "a step to " + seen[at] + ", in " + steps[at].where};
  }
  if (outcome.status != 0) {
    return Failure{"exit status 0 when " + tour().name,
                   "exit status " + std::to_string(outcome.status) + first_trouble(outcome)};
  }
  return {};
}

// The value of an attribute in the last step of a QP to a state; -1 where there is none.
long long last_value(const Outcome& outcome, std::string_view qp, std::string_view state, const char* attribute) {
  long long value = -1;
  for (const Call& step : steps_of(outcome, qp)) {
    if (step.arguments.at("qp_state") == state) {
      value = step.arguments.value(attribute, -1LL);
    }
  }
  return value;
}

// What does not fit between two QPs that are in RTS and do not hear each other.
std::string misfit(const Outcome& outcome) {
  const auto made = outcome.succeeded("ibv_create_qp");
  for (const auto& [self, peer] : {std::pair{a, b}, std::pair{b, a}}) {
    const auto other = std::ranges::find(made, std::string{peer}, &Call::object);
    const auto number = last_value(outcome, self, "RTR", "dest_qp_num");
    if (other != made.end() && number != other->arguments.value("qp_num", -1LL)) {
      return std::string{"dest_qp_num is the number of the peer's QP; for "} + (self == a ? "a" : "b") + " it is " +
             std::to_string(number);
    }
    if (last_value(outcome, self, "RTR", "rq_psn") != last_value(outcome, peer, "RTS", "sq_psn")) {
      return "rq_psn of one side is sq_psn of the other: they cross over";
    }
  }
  return {};
}

// The lines that a "send" has printed, and whether each says that the message arrived.
Judgement all_arrive(const Outcome& outcome, const Run& run, const std::string& likely) {
  const auto wanted = std::ranges::count(run.arguments, "send");
  std::vector<std::string> sent = outcome.lines();
  std::erase_if(sent, [](const std::string& line) { return !line.starts_with("send: "); });
  const auto arrived =
      std::ranges::count_if(sent, [](const std::string& line) { return line.starts_with("send: it arrived"); });
  // Where the peer is not in RTS when a message is sent it is meant to fail.
  const auto meant = run.name == both_sides.name ? wanted - 1 : wanted;
  if (arrived != meant || std::ssize(sent) < wanted || !sent.back().starts_with("send: it arrived")) {
    return Failure{
        "the message arrives when " + run.name,
        (std::ssize(sent) < wanted ? "no end of message " + std::to_string(sent.size() + 1) : excerpt(sent.back())) +
            first_trouble(outcome),
        likely};
  }
  if (outcome.status != 0) {
    return Failure{"exit status 0 when " + run.name,
                   "exit status " + std::to_string(outcome.status) + first_trouble(outcome)};
  }
  return {};
}

Judgement arrives(const Outcomes& outcomes) {
  return all_arrive(outcomes.at(message.name), message, misfit(outcomes.at(message.name)));
}

Judgement sees_it_fall(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(unanswered.name);
  const auto steps = steps_of(outcome, a);
  const States expected{"INIT", "RTR", "RTS", "RESET", "INIT", "RTR", "RTS"};
  if (outcome.of("ibv_post_send").empty()) {
    return Failure{"a is in RTS and sends", "its steps: " + text(states_of(steps)) + first_trouble(outcome)};
  }
  const auto lines = outcome.lines();
  const auto sent = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("send: "); });
  if (sent == lines.end()) {
    return Failure{
        "a's message is given up within 5 s when b does not answer",
        "no completion; a went to RTS with timeout " + std::to_string(last_value(outcome, a, "RTS", "timeout")) +
            " and retry_cnt " + std::to_string(last_value(outcome, a, "RTS", "retry_cnt")) + first_trouble(outcome),
        "timeout is 4.096 us x 2^timeout, or without end for 0; with retry_cnt 7 Soft-RoCE sends again without end"};
  }
  if (states_of(steps) != expected) {
    return Failure{"after the failed message a, which is in ERR by itself, goes on by RESET INIT RTR RTS",
                   "all its steps: " + text(states_of(steps)) + "; " + excerpt(*sent) + first_trouble(outcome),
                   "the state is what the program remembers: a failed request takes a QP to ERR without a call; "
                   "ibv_qp.state does not know it either, ibv_query_qp does"};
  }
  if (outcome.status != 0) {
    return Failure{"exit status 0 when " + unanswered.name,
                   "exit status " + std::to_string(outcome.status) + first_trouble(outcome)};
  }
  return {};
}

Judgement recovers(const Outcomes& outcomes) {
  if (auto failure =
          all_arrive(outcomes.at(one_side.name), one_side,
                     "only the side in ERR was connected anew: the packet numbers of the other one have gone on")) {
    return failure;
  }
  return all_arrive(outcomes.at(both_sides.name), both_sides, "both have to go through RESET to RTS");
}

}  // namespace

Lab lab() {
  return {.name = "08-queue-pair-states",
          .title = "From any state to any other",
          .checks = {
              {.id = "ways",
               .points = 25,
               .title = "a QP goes from each state to each other one on the shortest way",
               .read = "08 The verbs",
               .step = 3,
               .runs = {whatever_its_status(tour())},
               .judge = goes_the_shortest_way},
              {.id = "arrives",
               .points = 15,
               .title = "two QPs in RTS are connected with each other",
               .read = "08 The verbs",
               .step = 2,
               .needs = {"ways"},
               .runs = {whatever_its_status(message)},
               .judge = arrives},
              {.id = "unanswered",
               .points = 15,
               .title = "a message without an answer is given up, and the QP's fall to ERR is seen",
               .read = "08 The verbs",
               .step = 1,
               .needs = {"arrives"},
               .runs = {whatever_its_status(unanswered)},
               .judge = sees_it_fall},
              {.id = "recover",
               .points = 15,
               .title = "after recover a message arrives, whatever was before",
               .read = "08 What the run prints",
               .step = 4,
               .needs = {"unanswered"},
               .runs = {whatever_its_status(one_side), whatever_its_status(both_sides)},
               .judge = recovers},
              clean(10, {tour(), message, one_side}, {"recover"}, 3),
              sanitized(5, {tour(), one_side}, {"clean"}, 3),
              faults(10, two_steps, {"sanitized"}, 2),
          }};
}

}  // namespace judge
