// What lab 06 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace judge {

namespace {

const Run by_hand{.name = "the word is by-hand", .arguments = {"by-hand"}};
const Run by_owners{.name = "the word is by-owners", .arguments = {"by-owners"}};

Run stops_at(Run run, const std::string& fail, const std::string& what) {
  run.name += ", and " + what + " cannot be made";
  run.fail = fail;
  run.exit_status = 1;
  return run;
}

const Run hand_without_qp = stops_at(by_hand, "ibv_create_qp:2=ENOMEM", "the second QP");
const Run hand_without_mr = stops_at(by_hand, "ibv_reg_mr:1=ENOMEM", "the region");
const Run owners_without_qp = stops_at(by_owners, "ibv_create_qp:2=ENOMEM", "the second QP");
const Run owners_without_cq = stops_at(by_owners, "ibv_create_cq:1=ENOMEM", "the first CQ");

struct Kind {
  std::string_view make;
  std::string_view destroy;
  std::size_t count;
};
constexpr std::array kinds{Kind{"ibv_create_comp_channel", "ibv_destroy_comp_channel", 1},
                           Kind{"ibv_create_cq", "ibv_destroy_cq", 2},
                           Kind{"ibv_alloc_pd", "ibv_dealloc_pd", 1},
                           Kind{"ibv_reg_mr", "ibv_dereg_mr", 1},
                           Kind{"ibv_create_srq", "ibv_destroy_srq", 1},
                           Kind{"ibv_create_qp", "ibv_destroy_qp", 2}};

std::string errno_name(int code) {
  const char* const name = strerrorname_np(code);
  return name == nullptr ? std::to_string(code) : name;
}

// Who stood against it: verbs-check says so.
std::string users_of(const Outcome& outcome, const Call& call) {
  for (const Finding& finding : outcome.findings) {
    if (finding.id == "busy" && finding.what.starts_with(call.object + " ")) {
      return "it is used by " + finding.objects + ": users go first, then what they used";
    }
  }
  return "users go first, then what they used";
}

Judgement all_made(const Run& run, const Outcome& outcome) {
  for (const Kind& kind : kinds) {
    const auto made = outcome.succeeded(kind.make);
    if (made.size() != kind.count) {
      return Failure{std::string{kind.make} + (kind.count == 1 ? " once" : " twice") + " when " + run.name,
                     seen_calls(made, kind.make), "step 4 does not make all eight yet"};
    }
  }
  return {};
}

// Whatever was made is destroyed, by one call that is not refused, before the device is closed.
Judgement all_gone(const Run& run, const Outcome& outcome) {
  for (const Call& call : outcome.calls) {
    const bool destroys = std::ranges::find(kinds, call.verb, &Kind::destroy) != kinds.end();
    if (destroys && call.result != 0) {
      return Failure{"no destroy verb is refused when " + run.name,
                     call.verb + " answered " + errno_name(call.result) + " for " + call.object + ", in " + call.where,
                     users_of(outcome, call)};
    }
    if (call.verb == "ibv_close_device") {
      break;
    }
  }
  for (const Kind& kind : kinds) {
    const auto gone = outcome.of(kind.destroy);
    for (const Call& made : outcome.succeeded(kind.make)) {
      const auto times = std::ranges::count(gone, made.object, &Call::object);
      if (times != 1) {
        return Failure{made.object + " is destroyed once, by " + std::string{kind.destroy} + ", when " + run.name,
                       times == 0 ? "it is never destroyed; it was made in " + made.where
                                  : std::to_string(times) + " calls for it, in " +
                                        std::ranges::find(gone, made.object, &Call::object)->where,
                       times == 0 ? "one of the objects is left out on this way" : ""};
      }
    }
  }
  const auto closed = std::ranges::find(outcome.calls, "ibv_close_device", &Call::verb);
  const auto late = std::find_if(closed, outcome.calls.end(), [](const Call& call) {
    return std::ranges::find(kinds, call.verb, &Kind::destroy) != kinds.end();
  });
  if (late != outcome.calls.end()) {
    return Failure{"the device is closed last when " + run.name, late->verb + " after it, in " + late->where};
  }
  return {};
}

Judgement made_and_gone(const Run& run, const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(run.name);
  const auto missing = all_made(run, outcome);
  return missing ? missing : all_gone(run, outcome);
}

Judgement gone(const std::vector<Run>& runs, const Outcomes& outcomes) {
  for (const Run& run : runs) {
    if (auto judgement = all_gone(run, outcomes.at(run.name))) {
      return judgement;
    }
  }
  return {};
}

}  // namespace

Lab lab() {
  Run by_hand_of_any_status = by_hand;
  by_hand_of_any_status.exit_status = any_status;
  const std::vector halfway{hand_without_qp, hand_without_mr};
  const std::vector owners_halfway{owners_without_qp, owners_without_cq};
  return {.name = "06-teardown-order",
          .title = "Eight objects go, by hand and by themselves",
          .checks = {
              {.id = "by-hand",
               .points = 25,
               .title = "by hand, each object goes once, and no verb refuses",
               .read = "06 The code",
               .step = 2,
               .runs = {by_hand_of_any_status},
               .judge = [](const Outcomes& outcomes) { return made_and_gone(by_hand, outcomes); }},
              {.id = "halfway",
               .points = 15,
               .title = "by hand, what was made goes when the rest cannot be made",
               .read = "06 Pitfalls",
               .step = 1,
               .needs = {"by-hand"},
               .runs = halfway,
               .judge = [halfway](const Outcomes& outcomes) { return gone(halfway, outcomes); }},
              {.id = "by-owners",
               .points = 20,
               .title = "by owners, each object goes once, and no verb refuses",
               .read = "06 The code",
               .step = 3,
               .needs = {"halfway"},
               .runs = {by_owners},
               .judge = [](const Outcomes& outcomes) { return made_and_gone(by_owners, outcomes); }},
              {.id = "owners-halfway",
               .points = 10,
               .title = "by owners, what was made goes when the rest cannot be made",
               .read = "06 The code",
               .step = 4,
               .needs = {"by-owners"},
               .runs = owners_halfway,
               .judge = [owners_halfway](const Outcomes& outcomes) { return gone(owners_halfway, outcomes); }},
              clean(5, {by_hand, by_owners, hand_without_qp, owners_without_qp}, {"owners-halfway"}, 4),
              sanitized(5, {by_hand, by_owners}, {"clean"}, 2),
              faults(15, by_hand, {"sanitized"}, 1),
          }};
}

}  // namespace judge
