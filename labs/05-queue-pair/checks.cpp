// What lab 05 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace judge {

namespace {

constexpr const char* beyond_every_device = "2147483647";  // max_qp_wr is an int

const Run unordered{.name = "the wishes are 16 64 32", .arguments = {"16", "64", "32"}};
const Run too_deep{.name = "the wishes are 2147483647 8", .arguments = {beyond_every_device, "8"}};
const Run no_memory{.name = "the wishes are 16 64 32, and the device has no memory (ENOMEM) for the first QP",
                    .arguments = {"16", "64", "32"},
                    .fail = "ibv_create_qp:1=ENOMEM"};
const Run not_together{.name = "the wishes are 16 64 32, and the device refuses the first QP with EINVAL",
                       .arguments = {"16", "64", "32"},
                       .fail = "ibv_create_qp:1=EINVAL"};
const Run no_cq{.name = "the wishes are 16 64 32, and ibv_create_cq fails with ENOMEM",
                .arguments = {"16", "64", "32"},
                .exit_status = 1,
                .fail = "ibv_create_cq:1=ENOMEM"};
const Run never{.name = "the wishes are 16 64 32, and the device refuses every QP with ENOMEM",
                .arguments = {"16", "64", "32"},
                .exit_status = 1,
                .fail = "ibv_create_qp:every=ENOMEM"};

std::int64_t number(const Call& call, const char* name) { return call.arguments.value(name, std::int64_t{-1}); }

// "64, 32": how deep the QPs were to be.
std::string depths(const std::vector<Call>& calls) {
  std::string text;
  for (const Call& call : calls) {
    text += (text.empty() ? "" : ", ") + std::to_string(number(call, "max_send_wr"));
  }
  return text.empty() ? "none" : text;
}

Judgement is_rc_of(const Call& qp, std::int64_t depth) {
  const std::string type = qp.arguments.value("qp_type", "");
  if (type != "IBV_QPT_RC") {
    return Failure{"a QP of the type IBV_QPT_RC", type + ", in " + qp.where};
  }
  if (number(qp, "max_recv_wr") != depth) {
    return Failure{"both queues " + std::to_string(depth) + " deep",
                   "max_send_wr " + std::to_string(number(qp, "max_send_wr")) + ", max_recv_wr " +
                       std::to_string(number(qp, "max_recv_wr")) + ", in " + qp.where};
  }
  for (const auto& [name, value] : {std::pair{"max_send_sge", 1}, {"max_recv_sge", 1}, {"max_inline_data", 0}}) {
    if (number(qp, name) != value) {
      return Failure{
          std::string{name} + " " + std::to_string(value) + ": a wish has one SGE a request, and no inline data",
          std::to_string(number(qp, name)) + ", in " + qp.where,
          "what is asked for beyond the wish takes memory, and may be why a device refuses the depth"};
    }
  }
  return {};
}

Judgement deepest_first(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(unordered.name);
  const auto tried = outcome.of("ibv_create_qp");
  if (tried.empty()) {
    return Failure{"ibv_create_qp for the deepest wish, 64", "no ibv_create_qp", "step 2 does not make a QP yet"};
  }
  if (number(tried.front(), "max_send_wr") != 64) {
    return Failure{"the deepest wish, 64, is the first one to be asked for",
                   "max_send_wr of the QPs, in their order: " + depths(tried) + ", in " + tried.front().where,
                   "the wishes come in any order"};
  }
  if (tried.front().result != 0) {
    return Failure{"a QP with both queues 64 deep",
                   "ibv_create_qp in " + tried.front().where + " has failed; max_inline_data was " +
                       std::to_string(number(tried.front(), "max_inline_data")) + ", max_send_sge " +
                       std::to_string(number(tried.front(), "max_send_sge")),
                   "a field of ibv_qp_init_attr that was never set: zero the structure before you fill it"};
  }
  if (tried.size() != 1) {
    return Failure{"one ibv_create_qp, since the first wish is granted", seen_calls(tried, "ibv_create_qp"),
                   "the search goes on behind the first wish that is granted"};
  }
  return is_rc_of(tried.front(), 64);
}

Judgement room_for_completions(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(unordered.name);
  const Call qp = outcome.succeeded("ibv_create_qp").front();
  const std::string send_cq = qp.arguments.value("send_cq", "");
  if (send_cq != qp.arguments.value("recv_cq", "")) {
    return Failure{"one CQ for both queues", "two of them, in " + qp.where};
  }
  for (const Call& cq : outcome.succeeded("ibv_create_cq")) {
    if (cq.object == send_cq && number(cq, "cqe") != 128) {
      return Failure{"a CQ of 128 entries: 64 sends and 64 receives may complete before one is polled, and no more",
                     "it was asked for " + std::to_string(number(cq, "cqe")) + ", in " + cq.where,
                     number(cq, "cqe") < 128
                         ? "the CQ has room for the completions of one queue, not of both"
                         : "cqe is the number of entries; the CQ of the deepest wish would be above "
                           "max_cqe, which was looked at for twice the depth"};
    }
  }
  return {};
}

struct Limits {
  std::int64_t max_qp_wr = 0;
  std::int64_t max_cqe = 0;

  [[nodiscard]] std::int64_t deepest() const { return std::min(max_qp_wr, max_cqe / 2); }
};

// What the program prints first: "limits: max_qp_wr 1048576, max_cqe 32767".
Limits limits_of(const Outcome& outcome) {
  for (const std::string& line : outcome.lines()) {
    Limits limits;
    if (std::sscanf(line.c_str(), "limits: max_qp_wr %ld, max_cqe %ld", &limits.max_qp_wr, &limits.max_cqe) == 2) {
      return limits;
    }
  }
  return {};
}

// The first QP is refused without the device being asked: it may well have no memory for so much.
Run at_the_limit(const Outcomes& outcomes) {
  const std::int64_t deepest = limits_of(outcomes.at(too_deep.name)).deepest();
  const std::string depth = std::to_string(deepest);
  const std::string above = std::to_string(deepest + 1);
  return {.name = "the wishes are " + depth + " (just within the limits) " + above + " (just above) 8",
          .arguments = {depth, above, "8"},
          .exit_status = any_status,  // nor need it have the memory for the CQ
          .fail = "ibv_create_qp:1=ENOMEM"};
}

Judgement asks_within_limits(const Outcomes& outcomes) {
  const auto tried = outcomes.at(too_deep.name).of("ibv_create_qp");
  if (depths(tried) != "8") {
    return Failure{"ibv_create_qp for 8 only, when " + too_deep.name,
                   "max_send_wr of the QPs, in their order: " + depths(tried),
                   "2147483647 is above max_qp_wr: the device need not be asked"};
  }
  const Run edge = at_the_limit(outcomes);
  const Outcome& outcome = outcomes.at(edge.name);
  const std::int64_t max_cqe = limits_of(outcome).max_cqe;
  for (const Call& cq : outcome.of("ibv_create_cq")) {
    if (number(cq, "cqe") > max_cqe) {
      return Failure{"no CQ of more than max_cqe " + std::to_string(max_cqe) + " entries when " + edge.name,
                     "ibv_create_cq was asked for " + std::to_string(number(cq, "cqe")) + ", in " + cq.where,
                     "the CQ has to hold twice the depth, so max_cqe is a limit of the depth too"};
    }
    if (cq.result != 0) {
      return {};  // the device has to refuse the CQ as well; nothing more to be seen here
    }
  }
  const auto asked = outcome.of("ibv_create_qp");
  if (asked.empty() || std::to_string(number(asked.front(), "max_send_wr")) != edge.arguments.front()) {
    return Failure{"the first QP asked for is " + edge.arguments.front() + " deep when " + edge.name,
                   "max_send_wr of the QPs, in their order: " + depths(asked),
                   "a limit is the last value that is allowed: max_qp_wr for the depth, max_cqe for twice the depth"};
  }
  return {};
}

Judgement next_best(const Outcomes& outcomes) {
  struct Expected {
    const Run& run;
    std::string depths;
  };
  for (const auto& [run, expected] :
       {Expected{no_memory, "64, 32"}, Expected{not_together, "64, 32"}, Expected{never, "64, 32, 16"}}) {
    const auto tried = outcomes.at(run.name).of("ibv_create_qp");
    if (depths(tried) != expected) {
      return Failure{"QPs asked for, in this order: " + expected + ", when " + run.name,
                     depths(tried) + (tried.empty() ? "" : ", in " + tried.front().where),
                     "a limit holds for one attribute at a time, so a wish within all limits may be refused: then the "
                     "next one is tried"};
    }
  }
  const Outcome& outcome = outcomes.at(never.name);
  if (outcome.err.empty()) {
    return Failure{"a message on standard error when " + never.name, "nothing there"};
  }
  return {};
}

Judgement granted_is_granted(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(unordered.name);
  const Call qp = outcome.succeeded("ibv_create_qp").front();
  std::string expected = "granted:";
  for (const char* name : {"max_send_wr", "max_recv_wr", "max_send_sge", "max_recv_sge", "max_inline_data"}) {
    const std::int64_t value = qp.arguments.at("granted").value(name, std::int64_t{-1});
    expected += std::string{expected.ends_with(':') ? " " : ", "} + name + " " + std::to_string(value);
  }
  if (!outcome.prints(expected)) {
    return Failure{"the line \"" + expected + "\", which is what ibv_create_qp wrote into cap, in " + qp.where,
                   excerpt(outcome.out), "what was asked for is kept, not what the verb has written back"};
  }
  return {};
}

}  // namespace

Lab lab() {
  Run unordered_of_any_status = unordered;
  unordered_of_any_status.exit_status = any_status;
  return {.name = "05-queue-pair",
          .title = "The deepest queue pair that the device grants",
          .checks =
              {
                  {.id = "deepest",
                   .points = 20,
                   .title = "the deepest wish becomes an RC QP",
                   .read = "05 The code",
                   .step = 2,
                   .runs = {unordered_of_any_status},
                   .judge = deepest_first},
                  {.id = "cq-room",
                   .points = 10,
                   .title = "the CQ has an entry for each request",
                   .read = "04 The code",
                   .step = 2,
                   .needs = {"deepest"},
                   .runs = {unordered},
                   .judge = room_for_completions},
                  {.id = "granted",
                   .points = 10,
                   .title = "what is reported is what was granted",
                   .read = "05 What the run prints",
                   .step = 2,
                   .needs = {"deepest"},
                   .runs = {unordered},
                   .judge = granted_is_granted},
                  {.id = "limits",
                   .points = 20,
                   .title = "no wish above a limit is asked for, and each one below is",
                   .read = "05 The verbs",
                   .step = 1,
                   .needs = {"cq-room", "granted"},
                   .runs = {too_deep},
                   .judge = asks_within_limits,
                   .more = [](const Outcomes& outcomes) { return std::vector{at_the_limit(outcomes)}; }},
                  {.id = "next-best",
                   .points = 15,
                   .title = "a wish that is refused makes room for the next one",
                   .read = "05 Pitfalls",
                   .step = 3,
                   .needs = {"limits"},
                   .runs = {no_memory, not_together, never, no_cq},
                   .judge = next_best},
                  clean(5, {unordered, too_deep, no_memory, never}, {"next-best"}, 2),
                  sanitized(5, {unordered, too_deep}, {"clean"}),
                  faults(10, unordered, {"sanitized"}, 2),
              },
          .steps = {{"is_within_limits", 1}, {"make_pair", 2}, {"make_deepest", 3}}};
}

}  // namespace judge
