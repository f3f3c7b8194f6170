// What lab 03 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <cstdint>
#include <set>
#include <string>

namespace judge {

namespace {

const Run three{.name = "three tenants come and go",
                .arguments = {"come:ada", "come:bob", "come:cyd", "go:ada", "go:bob", "go:cyd"}};
const Run any_order{.name = "ada goes before cyd comes, then bob goes",
                    .arguments = {"come:ada", "come:bob", "go:ada", "come:cyd", "go:bob"},
                    .world = "owns"};
const Run twice{.name = "ada comes twice", .arguments = {"come:ada", "come:ada"}, .exit_status = 1};
const Run stranger{.name = "a stranger goes", .arguments = {"come:ada", "go:bob"}, .exit_status = 1};

Judgement each_has_its_own(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(three.name);
  const auto domains = outcome.succeeded("ibv_alloc_pd");
  const auto regions = outcome.succeeded("ibv_reg_mr");
  for (const Call& call : outcome.of("ibv_reg_mr")) {
    if (call.result != 0) {
      return Failure{"ibv_reg_mr succeeds for each tenant",
                     "it is refused, in " + call.where + "; on standard error: " + excerpt(outcome.err),
                     "not all of it is the program's: the memory of a std::vector begins at data(), not at the vector"};
    }
  }
  if (domains.size() != 3) {
    return Failure{"ibv_alloc_pd three times, once for each tenant", seen_calls(domains, "ibv_alloc_pd"),
                   domains.size() == 1 ? "one protection domain serves all tenants" : "step 2 does not make one yet"};
  }
  if (regions.size() != 3) {
    return Failure{"ibv_reg_mr three times, once for each tenant", seen_calls(regions, "ibv_reg_mr")};
  }
  std::set<std::int64_t> addresses;
  for (const Call& region : regions) {
    addresses.insert(region.arguments.value("addr", std::int64_t{0}));
  }
  if (addresses.size() != 3) {
    return Failure{
        "the region of each tenant over a buffer of its own",
        "all three are here at a time, and regions have the same address, in " + regions.front().where,
        "it is the address of something else: the memory of a std::vector begins at data(), not at the vector"};
  }
  std::set<std::string> used;
  for (const Call& region : regions) {
    used.insert(region.uses.begin(), region.uses.end());
  }
  if (used.size() != 3) {
    return Failure{"each memory region in a protection domain of its own",
                   "the three of them are in " + std::to_string(used.size()) + ", in " + regions.front().where};
  }
  return {};
}

// The domains in the order in which they were made and went: "+1 +2 -2".
std::string comings_and_goings(const Outcome& outcome) {
  std::string text;
  for (const Call& call : outcome.calls) {
    if (call.result == 0 && (call.verb == "ibv_alloc_pd" || call.verb == "ibv_dealloc_pd")) {
      text += (text.empty() ? "" : " ") + std::string{call.verb == "ibv_alloc_pd" ? "+" : "-"} + call.object.substr(4);
    }
  }
  return text;
}

Judgement leaves_at_once(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(any_order.name);
  if (constexpr int freed = 98; outcome.status == freed) {
    return Failure{
        .expected = "the region of a tenant is deregistered before its buffer is freed when " + any_order.name,
        .seen = excerpt(outcome.err),
        .likely = "members go in the reverse order of their declaration, and the buffer has to go last",
        .step = 1};
  }
  if (outcome.status != 0) {
    return Failure{"exit status 0 when " + any_order.name,
                   "exit status " + std::to_string(outcome.status) + "; on standard error: " + excerpt(outcome.err),
                   outcome.err.find("EBUSY") == std::string::npos
                       ? ""
                       : "the domain goes before the region that lives in it; members go in the reverse order of their "
                         "declaration",
                   {},
                   1};
  }
  const std::string expected = "+1 +2 -1 +3 -2 -3";
  const std::string seen = comings_and_goings(outcome);
  if (seen != expected) {
    return Failure{
        "protection domains made (+) and deallocated (-) in the order " + expected + " when " + any_order.name,
        seen.empty() ? "none" : seen, "what a tenant owns is not destroyed when this tenant goes"};
  }
  return {};
}

Judgement names_the_tenant(const Outcomes& outcomes) {
  if (outcomes.at(twice.name).err.find("ada") == std::string::npos) {
    return Failure{"a message with the name of the tenant when " + twice.name, excerpt(outcomes.at(twice.name).err)};
  }
  if (outcomes.at(stranger.name).err.find("bob") == std::string::npos) {
    return Failure{"a message with the name of the tenant when " + stranger.name,
                   excerpt(outcomes.at(stranger.name).err)};
  }
  return {};
}

}  // namespace

Lab lab() {
  Run three_of_any_status = three;
  three_of_any_status.exit_status = any_status;
  Run any_order_of_any_status = any_order;
  any_order_of_any_status.exit_status = any_status;
  return {.name = "03-protection-domain",
          .title = "A protection domain for each tenant",
          .checks =
              {
                  {.id = "pd-each",
                   .points = 25,
                   .title = "each tenant has a protection domain and a region in it",
                   .read = "03 The problem",
                   .step = 2,
                   .runs = {three_of_any_status},
                   .judge = each_has_its_own},
                  {.id = "leaving",
                   .points = 25,
                   .title = "what a tenant owns goes when it goes, in any order of tenants",
                   .read = "03 Pitfalls",
                   .step = 3,
                   .needs = {"pd-each"},
                   .runs = {any_order_of_any_status},
                   .judge = leaves_at_once},
                  {.id = "refusals",
                   .points = 15,
                   .title = "a second coming and an unknown going are errors",
                   .read = "01 The code",
                   .step = 2,
                   .needs = {"pd-each", "leaving"},
                   .runs = {twice, stranger},
                   .judge = names_the_tenant},
                  clean(10, {three, any_order, twice, stranger}, {"refusals"}),
                  sanitized(10, {three, twice}, {"clean"}),
                  faults(10, three, {"sanitized"}, 2),
              },
          .steps = {{"come", 2}, {"go", 3}}};
}

}  // namespace judge
