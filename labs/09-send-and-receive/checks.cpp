// What lab 09 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>

namespace judge {

namespace {

constexpr std::size_t depth = 4;  // of both queues, in the frame

// `count` messages, between them the smallest and the largest. Enough patience for a slow host.
Run messages(const char* name, unsigned count) {
  Run run{.name = name, .arguments = {"--deadline", "5"}};
  for (unsigned number = 0; number < count; ++number) {
    const unsigned size = number == 1 ? 4096 : (number * 997) % 4096 + 1;
    run.arguments.push_back(std::to_string(size % 16 == 8 ? size + 1 : size));
  }
  return run;
}

const Run few = messages("there are three messages", 3);
const Run many = messages("there are 40 messages", 40);
const Run one = messages("there is one message", 1);

Run failing() {
  Run run = messages("the fifth completion is one of a failed request", 12);
  run.fail_completion = "5=RETRY_EXC_ERR";
  run.exit_status = any_status;
  return run;
}

Run whatever_its_status(Run run) {
  run.exit_status = any_status;
  return run;
}

// The requests that a verb has posted, one after the other.
std::vector<nlohmann::json> posted(const Outcome& outcome, std::string_view verb) {
  std::vector<nlohmann::json> requests;
  for (const Call& call : outcome.succeeded(verb)) {
    const auto list = call.arguments.value("requests", nlohmann::json::array());
    requests.insert(requests.end(), list.begin(), list.end());
  }
  return requests;
}

std::string why_it_ended(const Outcome& outcome) {
  std::string text = "exit status " + std::to_string(outcome.status);
  if (!outcome.findings.empty()) {
    text += "; verbs-check says [" + outcome.findings.front().id + "] " + outcome.findings.front().what + ", in " +
            outcome.findings.front().where;
  }
  if (!outcome.err.empty()) {
    text += "; on standard error: " + excerpt(outcome.err);
  }
  return text;
}

// All of them went through the device, each with its own length, and the program was content.
Judgement all_delivered(const Outcome& outcome, const Run& run) {
  for (const char* const verb : {"ibv_post_recv", "ibv_post_send"}) {
    if (outcome.succeeded(verb).empty()) {
      const auto tried = outcome.of(verb);
      return Failure{std::string{verb} + " when " + run.name,
                     seen_calls(tried, verb) + (tried.empty() ? "" : ", refused") + "; " + why_it_ended(outcome)};
    }
  }
  std::vector<std::string> received;
  for (const Call& call : outcome.of("ibv_poll_cq")) {
    for (const auto& completion : call.completions) {
      if (completion.value("opcode", "") == "IBV_WC_RECV") {
        received.push_back(std::to_string(completion.value("byte_len", 0)));
      }
    }
  }
  const std::vector<std::string> sizes(run.arguments.begin() + 2, run.arguments.end());
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    if (at == received.size()) {
      return Failure{
          std::to_string(sizes.size()) + " messages are received when " + run.name,
          std::to_string(received.size()) + ", after " + std::to_string(posted(outcome, "ibv_post_recv").size()) +
              " receives and " + std::to_string(posted(outcome, "ibv_post_send").size()) + " sends that were taken; " +
              why_it_ended(outcome),
          received.size() == depth ? "each message uses up one receive: post a new one when it was taken" : ""};
    }
    if (received[at] != sizes[at]) {
      return Failure{"message " + std::to_string(at) + " is received with its " + sizes[at] + " bytes when " + run.name,
                     "byte_len " + received[at] + "; " + why_it_ended(outcome),
                     "the SGE of a send says how long the message is: not the room, the message"};
    }
  }
  const std::string last = "messages taken: " + std::to_string(sizes.size()) + " of " + std::to_string(sizes.size());
  if (outcome.status != 0 || !outcome.prints(last)) {
    return Failure{"each message is taken, whole and in order, when " + run.name,
                   why_it_ended(outcome) +
                       "; the last line: " + (outcome.lines().empty() ? "none" : excerpt(outcome.lines().back())),
                   "byte_len of the receive's completion is the length, and its wr_id leads to the slot"};
  }
  return {};
}

Judgement few_delivered(const Outcomes& outcomes) { return all_delivered(outcomes.at(few.name), few); }
Judgement many_delivered(const Outcomes& outcomes) { return all_delivered(outcomes.at(many.name), many); }

// Polls that found nothing are not in the trace, so the first that is there found something.
Judgement fills_the_window(const Outcomes& outcomes) {
  std::size_t sends = 0;
  for (const Call& call : outcomes.at(many.name).calls) {
    if (call.verb == "ibv_post_send" && call.result == 0) {
      sends += call.arguments.at("requests").size();
    } else if (call.verb == "ibv_poll_cq") {
      if (sends >= depth) {
        return {};
      }
      return Failure{"four sends posted before the first completion is polled when " + many.name, std::to_string(sends),
                     "each message waits for the one before it: post all that may be posted, then poll"};
    }
  }
  return Failure{"completions that are polled", "none"};
}

Judgement receives_first(const Outcomes& outcomes) {
  std::size_t sends = 0;
  std::size_t receives = 0;
  for (const Call& call : outcomes.at(many.name).calls) {
    if (call.result != 0) {
      continue;
    }
    if (call.verb == "ibv_post_recv") {
      receives += call.arguments.at("requests").size();
    } else if (call.verb == "ibv_post_send") {
      sends += call.arguments.at("requests").size();
      if (sends > receives) {
        return Failure{"a receive is posted for each message before its send when " + many.name,
                       "send " + std::to_string(sends) + " was posted when there had been " + std::to_string(receives) +
                           " receives",
                       "the message arrives all the same, since rnr_retry 7 tries without end: each time it found no "
                       "receive, the receiver answered RNR NAK and the sender waited"};
      }
    }
  }
  return {};
}

Judgement tells_of_failure(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(failing().name);
  // Completions that were polled together with the failed one may still be handled.
  bool has_failed = false;
  bool goes_on = false;
  for (const Call& call : outcome.calls) {
    if (call.verb == "ibv_poll_cq" && call.completions.is_array()) {
      goes_on = has_failed;
      has_failed = has_failed || std::ranges::any_of(call.completions, [](const auto& completion) {
                     return completion.value("status", "") != "IBV_WC_SUCCESS";
                   });
    } else if (goes_on && call.verb == "ibv_post_send") {
      return Failure{"nothing more is sent when " + failing().name, "a send after it",
                     "the status of a completion is not looked at: first the status, then all else"};
    }
  }
  if (outcome.status != 1 || outcome.err.find("RETRY_EXC_ERR") == std::string::npos) {
    return Failure{"exit status 1 and a message with RETRY_EXC_ERR when " + failing().name, why_it_ended(outcome),
                   "the status of a completion is not looked at: give each to lab::check_completion before you use it"};
  }
  return {};
}

}  // namespace

Lab lab() {
  return {.name = "09-send-and-receive",
          .title = "Many messages through four receives",
          .checks = {
              {.id = "delivered",
               .points = 20,
               .title = "three messages of different sizes arrive whole and in order",
               .read = "09 The code",
               .step = 3,
               .runs = {whatever_its_status(few)},
               .judge = few_delivered},
              {.id = "many",
               .points = 20,
               .title = "40 messages arrive through queues of four",
               .read = "09 Pitfalls",
               .step = 3,
               .needs = {"delivered"},
               .runs = {whatever_its_status(many)},
               .judge = many_delivered},
              {.id = "window",
               .points = 10,
               .title = "four messages are under way at a time",
               .read = "09 The verbs",
               .step = 3,
               .needs = {"many"},
               .runs = {whatever_its_status(many)},
               .judge = fills_the_window},
              {.id = "receive-first",
               .points = 15,
               .title = "no message is sent before there is a receive for it",
               .read = "09 Questions",
               .step = 3,
               .needs = {"window"},
               .runs = {whatever_its_status(many)},
               .judge = receives_first},
              {.id = "status",
               .points = 10,
               .title = "a completion that has failed ends the program, with its status",
               .read = "09 The verbs",
               .step = 3,
               .needs = {"receive-first"},
               .runs = {failing()},
               .judge = tells_of_failure},
              clean(10, {few, many}, {"status"}, 3),
              sanitized(5, {few, many}, {"clean"}, 3),
              faults(5, one, {"sanitized"}, 1),
          }};
}

}  // namespace judge
