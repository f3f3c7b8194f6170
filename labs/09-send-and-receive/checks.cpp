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

// The device writes into a slot as soon as its receive is posted, and a poll brings one completion, the next one none:
// so whatever might be done by then was to be done.
Run with_a_strict_device(Run run) {
  run.world = "scribbles,dribbles";
  return run;
}

const Run few = messages("there are three messages", 3);
const Run many = with_a_strict_device(messages("there are 40 messages", 40));
const Run one = messages("there is one message", 1);
const Run silent{.name = "no completion comes",
                 .arguments = {"--deadline", "{moment}", "100", "200"},
                 .exit_status = 1,
                 .world = "silent",
                 .limit = std::chrono::milliseconds{4000},
                 .step = 3};

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

bool is_signalled(const nlohmann::json& request) {
  return request.value("send_flags", "").find("SIGNALED") != std::string::npos;
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

// Whether the device has written into a slot that was not yet read.
bool is_spoilt(const Outcome& outcome, const Run& run) {
  return !run.world.empty() && outcome.err.find("is wrong") != std::string::npos;
}
constexpr const char* taken_late =
    "a slot is read when its receive is posted anew, and the device has written there: take the message first";

// All of them went through the device, each with its own length, and the program was content.
Judgement all_delivered(const Outcome& outcome, const Run& run) {
  for (const char* const verb : {"ibv_post_recv", "ibv_post_send"}) {
    if (outcome.succeeded(verb).empty()) {
      const auto tried = outcome.of(verb);
      return Failure{
          .expected = std::string{verb} + " when " + run.name,
          .seen = seen_calls(tried, verb) + (tried.empty() ? "" : ", refused") + "; " + why_it_ended(outcome),
          .step = verb == std::string_view{"ibv_post_recv"} ? 1 : 2};
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
  // Without a completion nothing tells when the slot of a send is free.
  const auto sent = posted(outcome, "ibv_post_send");
  const bool unsignalled = std::ranges::none_of(sent, [](const auto& request) { return is_signalled(request); });
  const std::vector<std::string> sizes(run.arguments.begin() + 2, run.arguments.end());
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    if (at == received.size()) {
      return Failure{std::to_string(sizes.size()) + " messages are received when " + run.name,
                     std::to_string(received.size()) + ", after " +
                         std::to_string(posted(outcome, "ibv_post_recv").size()) + " receives and " +
                         std::to_string(sent.size()) + " sends that were taken; " + why_it_ended(outcome),
                     unsignalled                ? "no send is signalled, so none gives its place in the queue back"
                     : is_spoilt(outcome, run)  ? taken_late
                     : received.size() == depth ? "each message uses up one receive: post a new one when it was taken"
                                                : "",
                     {},
                     unsignalled ? 2 : 0};
    }
    if (received[at] != sizes[at]) {
      return Failure{"message " + std::to_string(at) + " is received with its " + sizes[at] + " bytes when " + run.name,
                     "byte_len " + received[at] + "; " + why_it_ended(outcome),
                     "the SGE of a send says how long the message is: not the room, the message",
                     {},
                     2};
    }
  }
  const std::string last = "messages taken: " + std::to_string(sizes.size()) + " of " + std::to_string(sizes.size());
  if (outcome.status != 0 || !outcome.prints(last)) {
    return Failure{"each message is taken, whole and in order, when " + run.name,
                   why_it_ended(outcome) +
                       "; the last line: " + (outcome.lines().empty() ? "none" : excerpt(outcome.lines().back())),
                   is_spoilt(outcome, run)
                       ? taken_late
                       : "byte_len of the receive's completion is the length, and its wr_id leads to the slot"};
  }
  return {};
}

// The number of sends whose end is known when the last of these completions was polled: on one QP they end in their
// order.
std::size_t ended_sends(const std::vector<nlohmann::json>& sent, std::size_t completions) {
  std::size_t known = 0;
  for (std::size_t at = 0; at < sent.size() && completions > 0; ++at) {
    if (is_signalled(sent[at])) {
      --completions;
      known = at + 1;
    }
  }
  return known;
}

std::size_t completed(const Call& poll, std::string_view opcode) {
  return static_cast<std::size_t>(std::ranges::count_if(
      poll.completions, [&](const auto& completion) { return completion.value("opcode", "") == opcode; }));
}

// The program may not end before its sends have.
Judgement all_sends_ended(const Outcome& outcome, const Run& run) {
  std::size_t completions = 0;
  for (const Call& call : outcome.of("ibv_poll_cq")) {
    completions += completed(call, "IBV_WC_SEND");
  }
  const auto sent = posted(outcome, "ibv_post_send");
  const std::size_t ended = ended_sends(sent, completions);
  if (ended < sent.size()) {
    return Failure{
        "the end of all " + std::to_string(sent.size()) + " sends is known before the program ends when " + run.name,
        "that of the first " + std::to_string(ended) + ": " + std::to_string(completions) +
            " completions of sends were polled",
        "that a message was received does not say that the device is done with its send"};
  }
  return {};
}

Judgement few_delivered(const Outcomes& outcomes) { return all_delivered(outcomes.at(few.name), few); }
Judgement many_delivered(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(many.name);
  const auto failure = all_delivered(outcome, many);
  return failure ? failure : all_sends_ended(outcome, many);
}

// Polls that found nothing are not in the trace. But there was one before each that found something, but the first:
// the device of this run dribbles. By then all had to be posted that may be posted.
Judgement fills_the_window(const Outcomes& outcomes) {
  const std::size_t count = many.arguments.size() - 2;
  std::vector<nlohmann::json> sent;
  std::size_t completions = 0;
  std::size_t received = 0;
  for (const Call& call : outcomes.at(many.name).calls) {
    if (call.verb == "ibv_post_send" && call.result == 0) {
      const auto list = call.arguments.value("requests", nlohmann::json::array());
      sent.insert(sent.end(), list.begin(), list.end());
    } else if (call.verb == "ibv_poll_cq") {
      const std::size_t ended = ended_sends(sent, completions);
      const std::size_t possible = std::min({count, ended + depth, received + depth});
      if (sent.size() < possible && completions + received == 0) {
        return Failure{"four sends posted before the first completion is polled when " + many.name,
                       std::to_string(sent.size()),
                       "each message waits for the one before it: post all that may be posted, then poll"};
      }
      if (sent.size() < possible) {
        return Failure{"as many messages as may be are under way when " + many.name + ": send " +
                           std::to_string(sent.size() + 1) + " is posted as soon as " +
                           std::to_string(sent.size() + 1 - depth) + " sends have ended and " +
                           std::to_string(sent.size() + 1 - depth) + " messages were received",
                       std::to_string(ended) + " sends had ended and " + std::to_string(received) +
                           " messages were received, and the next completion was polled in " + call.where,
                       "the program waits for more than the next send needs, for all four of a batch perhaps"};
      }
      completions += completed(call, "IBV_WC_SEND");
      received += completed(call, "IBV_WC_RECV");
    }
  }
  return completions + received > 0 ? Judgement{} : Failure{"completions that are polled", "none"};
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

Judgement ends_when_silent(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(silent.name);
  if (outcome.succeeded("ibv_post_send").empty()) {
    return Failure{"a message is sent before the program waits when " + silent.name, why_it_ended(outcome)};
  }
  if (outcome.err.empty()) {
    return Failure{"a message on standard error when " + silent.name, "nothing there"};
  }
  return {};
}

}  // namespace

Lab lab() {
  return {.name = "09-send-and-receive",
          .title = "Many messages through four receives",
          .checks =
              {
                  {.id = "delivered",
                   .points = 15,
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
                  {.id = "silence",
                   .points = 5,
                   .title = "when no completion comes the program ends with 1, in time",
                   .read = "09 Pitfalls",
                   .step = 3,
                   .needs = {"receive-first"},
                   .runs = {silent},
                   .judge = ends_when_silent},
                  clean(10, {few, many}, {"status", "silence"}, 3),
                  sanitized(5, {few, many}, {"clean"}, 3),
                  faults(5, one, {"sanitized"}, 1),
              },
          .steps = {{"deliver", 3}}};
}

}  // namespace judge
