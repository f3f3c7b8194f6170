// What lab 04 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <sstream>

namespace judge {

namespace {

const Run plan{.name = "three queue pairs share three completion queues",
               .arguments = {"64@a+128@a", "16@b+8@c", "4@a+32@c"}};
const std::vector<std::int64_t> plan_entries{16, 40, 196};  // b; c: 8 + 32; a: 64 + 128 + 4
const Run sender{.name = "a queue pair never receives", .arguments = {"16@a+0@b"}};
const Run huge{.name = "the queue 'big' needs 2999999997 entries",
               .arguments = {"16@a+999999999@big", "999999999@big+999999999@big"},
               .exit_status = 1};
const Run truth{.name = "ibv_devinfo -v runs in the place of the program", .tool = {"ibv_devinfo", "-v"}};
const Run broken{.name = "ibv_poll_cq answers a negative number",
                 .arguments = {"64@a+128@b"},
                 .exit_status = 1,
                 .fail = "ibv_poll_cq:1=EIO"};
const Run two_queues{.name = "one queue pair has two completion queues", .arguments = {"64@a+128@b"}};

std::string list(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

std::vector<std::int64_t> asked(const Outcome& outcome) {
  std::vector<std::int64_t> result;
  for (const Call& call : outcome.of("ibv_create_cq")) {
    result.push_back(call.arguments.value("cqe", std::int64_t{0}));
  }
  std::ranges::sort(result);
  return result;
}

Judgement asks_for(const Run& run, const std::vector<std::int64_t>& expected, const Outcomes& outcomes,
                   const std::string& likely) {
  const Outcome& outcome = outcomes.at(run.name);
  const auto seen = asked(outcome);
  if (seen != expected) {
    const auto calls = outcome.of("ibv_create_cq");
    return Failure{"ibv_create_cq for " + list(expected) + " entries when " + run.name,
                   calls.empty() ? "no ibv_create_cq" : "for " + list(seen) + " entries, in " + calls.front().where,
                   likely};
  }
  return {};
}

Judgement sizes(const Outcomes& outcomes) {
  return asks_for(plan, plan_entries, outcomes,
                  "each send and each receive that can be outstanding needs an entry, in the queue into which it "
                  "completes; a and c each serve several queues");
}

Judgement asks_for_one(const Outcomes& outcomes) {
  return asks_for(sender, {1, 16}, outcomes, "ibv_create_cq refuses 0 entries with EINVAL");
}

Judgement says_what_was_granted(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(plan.name);
  for (const Call& call : outcome.succeeded("ibv_create_cq")) {
    const auto entries = call.arguments.value("cqe", std::int64_t{0});
    const std::string name = entries == 196 ? "a" : entries == 16 ? "b" : "c";
    const std::string line = name + ": asked " + std::to_string(entries) + ", granted " +
                             std::to_string(call.arguments.value("granted", 0)) + ", waiting 0";
    if (!outcome.prints(line)) {
      return Failure{"the line '" + line + "' when " + plan.name, "on standard output: " + excerpt(outcome.out),
                     "what the device has granted stands in cq->cqe"};
    }
  }
  return {};
}

// max_cqe of the first device that has an active port.
std::string most_entries(const Outcomes& outcomes) {
  std::string most;
  for (const std::string& line : outcomes.at(truth.name).lines()) {
    std::istringstream words{line};
    std::string first;
    std::string second;
    words >> first >> second;
    if (first == "max_cqe:") {
      most = second;
    } else if (first == "state:" && second == "PORT_ACTIVE") {
      break;
    }
  }
  return most;
}

std::vector<Run> one_too_many(const Outcomes& outcomes) {
  const std::string most = most_entries(outcomes);
  return {Run{.name = "the queue 'big' needs one entry more than max_cqe, " + most,
              .arguments = {most + "@big+0@other", "1@other+1@big"},
              .exit_status = 1,
              .here = true}};
}

Judgement refuses_too_many(const Outcomes& outcomes) {
  const std::string most = most_entries(outcomes);
  for (const Run& run : {huge, one_too_many(outcomes).front()}) {
    const Outcome& outcome = outcomes.at(run.name);
    if (!outcome.of("ibv_create_cq").empty()) {
      return Failure{
          "no ibv_create_cq when " + run.name,
          seen_calls(outcome.of("ibv_create_cq"), "ibv_create_cq") + ", for " + list(asked(outcome)) + " entries",
          "hold all sizes against max_cqe before the first queue is made, and as 64-bit numbers"};
    }
    if (outcome.err.find("big") == std::string::npos || outcome.err.find(most) == std::string::npos) {
      return Failure{"a message that names the queue, 'big', and max_cqe, " + most + ", when " + run.name,
                     "on standard error: " + excerpt(outcome.err)};
    }
  }
  return {};
}

Judgement tells_of_it(const Outcomes& outcomes) {
  if (outcomes.at(broken.name).err.empty()) {
    return Failure{"a message on standard error when " + broken.name, "nothing there"};
  }
  return {};
}

}  // namespace

Lab lab() {
  Run plan_of_any_status = plan;
  plan_of_any_status.exit_status = any_status;
  return {.name = "04-completion-queue",
          .title = "Completion queues for a plan",
          .checks = {
              {.id = "sized",
               .points = 20,
               .title = "each queue has an entry for each request that can be outstanding",
               .read = "04 The code",
               .step = 1,
               .runs = {plan_of_any_status},
               .judge = sizes},
              {.id = "least",
               .points = 10,
               .title = "a queue that waits for nothing has one entry",
               .read = "04 What the run prints",
               .step = 1,
               .needs = {"sized"},
               .runs = {sender},
               .judge = asks_for_one},
              {.id = "granted",
               .points = 10,
               .title = "the report has what was asked, and what was granted",
               .read = "04 Pitfalls",
               .step = 3,
               .needs = {"sized"},
               .runs = {plan},
               .judge = says_what_was_granted},
              {.id = "limits",
               .points = 20,
               .title = "a queue above max_cqe is an error, and then none is made",
               .read = "04 Pitfalls",
               .step = 2,
               .needs = {"sized"},
               .runs = {truth, huge},
               .judge = refuses_too_many,
               .more = one_too_many},
              {.id = "polled",
               .points = 10,
               .title = "a negative answer of ibv_poll_cq is an error",
               .read = "04 Pitfalls",
               .step = 3,
               .needs = {"granted"},
               .runs = {broken},
               .judge = tells_of_it},
              clean(10, {plan, sender, huge}, {"least", "granted", "limits", "polled"}),
              sanitized(5, {plan}, {"clean"}, 3),
              faults(10, two_queues, {"sanitized"}, 2),
          }};
}

}  // namespace judge
