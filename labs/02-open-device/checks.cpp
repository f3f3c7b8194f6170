// What lab 02 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <utility>

namespace judge {

namespace {

// A table, and which index is right for which peer.
struct Question {
  std::string name;
  std::vector<std::string> slots;
  std::vector<std::pair<std::string, unsigned>> peers;
  std::string likely;

  [[nodiscard]] Run run(int exit_status) const {
    Run result{.name = name, .arguments = {}, .exit_status = exit_status};
    for (const std::string& slot : slots) {
      result.arguments.push_back("slot:" + slot);
    }
    for (const auto& [peer, index] : peers) {
      result.arguments.push_back("to:" + peer);
    }
    return result;
  }

  [[nodiscard]] Judgement judge(const Outcomes& outcomes) const {
    const Outcome& outcome = outcomes.at(name);
    for (const auto& [peer, index] : peers) {
      if (!outcome.prints("to:" + peer + " from index " + std::to_string(index))) {
        std::string table;
        for (const std::string& slot : slots) {
          table += " " + slot;
        }
        std::string seen = "on standard output: " + excerpt(outcome.out);
        for (const std::string& line : outcome.lines()) {
          seen = line.starts_with("to:" + peer + " ") ? "'" + line + "'" : seen;
        }
        if (!outcome.err.empty()) {
          seen += "; on standard error: " + excerpt(outcome.err);
        }
        return Failure{"index " + std::to_string(index) + " for the peer " + peer + ", when the slots are" + table,
                       seen, likely};
      }
    }
    return {};
  }
};

// For each type and form there is just one slot.
const Question kinds{"the port has RoCE v1 and v2",
                     {"0,v1,fe80::7", "1,v2,fe80::7", "2,v1,::ffff:192.0.2.7", "3,v2,::ffff:192.0.2.7",
                      "4,v1,2001:db8::7", "5,v2,2001:db8::7"},
                     {{"v2,::ffff:192.0.2.9", 3},
                      {"v1,::ffff:192.0.2.9", 2},
                      {"v2,fe80::9", 1},
                      {"v1,fe80::9", 0},
                      {"v2,2001:db8::9", 5},
                      {"v1,2001:db8::9", 4}},
                     "the type of the slot has to be that of the peer, whichever is the better one"};
const Question networks{
    "the port has addresses in several networks",
    {"0,v2,::ffff:10.0.0.5", "1,v2,::ffff:192.0.2.7", "2,v2,::ffff:192.0.3.7", "3,v2,::ffff:172.16.16.1",
     "4,v2,::ffff:172.16.64.1", "5,v2,fe80::7", "6,v2,::ffff:10.128.128.0", "7,v2,::ffff:10.1.255.255"},
    {{"v2,::ffff:192.0.3.200", 2},
     {"v2,::ffff:192.0.2.5", 1},
     {"v2,::ffff:10.0.0.5", 0},
     {"v2,::ffff:172.16.100.1", 4},
     // Of all bits that are equal slot 6 has 126, and slot 7 has 113; but those are at its beginning.
     {"v2,::ffff:10.1.128.0", 7}},
    "bits are counted from the first one of raw[0] to the first that differs, within a byte too; "
    "what is equal behind that does not count"};
// 2001: begins with a bit 0, a000: with a bit 1.
const Question far_away{"the only slot of the peer's type has no bit in common with it",
                        {"0,v1,a000::7", "1,v2,2001:db8::7"},
                        {{"v2,a000::9", 1}},
                        "0 bits in common are fewer than any other number, and no reason to refuse"};
const Question holes{"the table has holes and is in no order",
                     {"9,ib,fe80::a", "4,ib,fe80::b", "6,ib,2001:db8::7"},
                     {{"ib,2001:db8::9", 6}, {"ib,fe80::a", 9}, {"ib,fe80::1", 4}},
                     "the answer is gid_index of the slot, not its place in the array; among equals the lowest one"};

const Question never_queried{
    "the peer's GID is all zero", {"0,v2,fe80::7", "1,v2,::", "2,v2,::ffff:192.0.2.7"}, {{"v2,::", 0}}, {}};
const Question other_type{"the peer has RoCE v2 and the port v1",
                          {"0,v1,fe80::7", "1,v1,::ffff:192.0.2.7"},
                          {{"v2,::ffff:192.0.2.9", 0}},
                          {}};
const Question other_form{
    "the peer has IPv4 and the port IPv6", {"0,v2,fe80::7", "1,v2,2001:db8::7"}, {{"v2,::ffff:192.0.2.9", 0}}, {}};

Judgement refuses(const Outcomes& outcomes) {
  for (const Question* const question : {&never_queried, &other_type, &other_form}) {
    const std::string peer = question->peers.front().first;
    const Outcome& outcome = outcomes.at(question->name);
    if (outcome.err.find(peer.substr(peer.find(',') + 1)) == std::string::npos) {
      return Failure{"a message with the peer's GID when " + question->name,
                     "on standard error: " + excerpt(outcome.err)};
    }
  }
  return {};
}

// What there is, as ibv_devinfo prints it.
struct Slot {
  unsigned index;
  std::string type;  // "v2"
  std::string gid;
};
struct Table {
  std::string device;
  std::string port;
  std::vector<Slot> slots;
};

const Run truth{.name = "ibv_devinfo -v runs in the place of the program", .tool = {"ibv_devinfo", "-v"}};
const Run whole{.name = "there are no words", .here = true};
const Run no_device{.name = "the device is absent0", .arguments = {"-d", "absent0"}, .exit_status = 1, .step = 1};
const Run no_port{.name = "no port is active", .exit_status = 1, .world = "no-port", .step = 1};

// The first active port of the first device that has one.
Table active_port(const Outcomes& outcomes) {
  Table found;
  bool active = false;
  std::string device;
  for (const std::string& line : outcomes.at(truth.name).lines()) {
    std::istringstream words{line};
    std::string first;
    std::string second;
    words >> first >> second;
    if (first == "hca_id:" || first == "port:") {
      if (active) {
        break;
      }
      if (first == "port:") {
        found = {device, second, {}};
      } else {
        device = second;
      }
    } else if (first == "state:") {
      active = second == "PORT_ACTIVE";
    } else if (const auto bracket = line.find("GID["); bracket != std::string::npos) {
      // "GID[  1]:  ::ffff:192.0.2.1, RoCE v2"
      std::string rest = line.substr(line.find("]:") + 2);
      rest.erase(0, rest.find_first_not_of(" \t"));
      const std::string type = rest.ends_with("RoCE v2") ? "v2" : rest.ends_with("RoCE v1") ? "v1" : "ib";
      found.slots.push_back({static_cast<unsigned>(std::stoul(line.substr(bracket + 4))), type,
                             rest.substr(0, rest.find_first_of(", \t"))});
    }
  }
  return active ? found : Table{};
}

std::array<unsigned char, 16> bytes_of(const std::string& gid) {
  std::array<unsigned char, 16> bytes{};
  inet_pton(AF_INET6, gid.c_str(), bytes.data());
  return bytes;
}

// The peer has one of the port's own addresses: then all 128 bits are the same.
std::vector<std::pair<Run, unsigned>> own_addresses(const Outcomes& outcomes) {
  const Table table = active_port(outcomes);
  std::vector<std::pair<Run, unsigned>> result;
  for (const Slot& slot : table.slots) {
    const auto same = [&](const Slot& other) {
      return other.type == slot.type && bytes_of(other.gid) == bytes_of(slot.gid);
    };
    const auto lowest = std::ranges::find_if(table.slots, same);
    const std::string word = "to:" + slot.type + "," + slot.gid;
    if (result.size() < 3) {
      result.emplace_back(Run{.name = "the words are -d " + table.device + " " + word,
                              .arguments = {"-d", table.device, word},
                              .here = true},
                          lowest->index);
    }
  }
  return result;
}

std::vector<Run> own_address_runs(const Outcomes& outcomes) {
  std::vector<Run> runs;
  for (const auto& [run, index] : own_addresses(outcomes)) {
    runs.push_back(run);
  }
  return runs;
}

Judgement reads_the_table(const Outcomes& outcomes) {
  const Table table = active_port(outcomes);
  const std::string line =
      table.device + " port " + table.port + ": " + std::to_string(table.slots.size()) + " slots filled";
  if (const Outcome& outcome = outcomes.at(whole.name); !outcome.prints(line)) {
    const bool other_port = outcome.out.find(line.substr(0, line.find(':') + 1)) == std::string::npos;
    return Failure{
        .expected = "the line '" + line + "' when " + whole.name + ": that is what ibv_devinfo -v shows",
        .seen = "on standard output: " + excerpt(outcome.out),
        .likely = other_port ? "it is another port: of the first device that has an active one the first active one"
                             : "a slot whose GID is all zero is empty, whatever ibv_query_gid returns; slots of other "
                               "ports do not count",
        .step = other_port ? 1 : 2};
  }
  if (outcomes.at(no_port.name).err.empty()) {
    return Failure{.expected = "a message on standard error when " + no_port.name, .seen = "nothing there", .step = 1};
  }
  for (const auto& [run, index] : own_addresses(outcomes)) {
    const std::string expected = run.arguments.back() + " from index " + std::to_string(index);
    if (!outcomes.at(run.name).prints(expected)) {
      return Failure{"the line '" + expected + "' when " + run.name,
                     "on standard output: " + excerpt(outcomes.at(run.name).out)};
    }
  }
  return {};
}

}  // namespace

Lab lab() {
  return {.name = "02-open-device",
          .title = "The GID that reaches a peer",
          .checks =
              {
                  {.id = "kind",
                   .points = 15,
                   .title = "the slot has the type and the form of the peer's GID",
                   .read = "02 The code",
                   .step = 4,
                   .runs = {kinds.run(any_status)},
                   .judge = [](const Outcomes& outcomes) { return kinds.judge(outcomes); }},
                  {.id = "nearest",
                   .points = 15,
                   .title = "of several slots the one with the most bits in common is chosen",
                   .read = "02 The code",
                   .step = 3,
                   .needs = {"kind"},
                   .runs = {networks.run(0), far_away.run(any_status)},
                   .judge =
                       [](const Outcomes& outcomes) {
                         auto failure = networks.judge(outcomes);
                         if (!failure && (failure = far_away.judge(outcomes))) {
                           failure->step = 4;
                         }
                         return failure;
                       }},
                  {.id = "slots",
                   .points = 10,
                   .title = "the answer is an index of the table, and among equals the lowest",
                   .read = "02 The code",
                   .step = 4,
                   .needs = {"nearest"},
                   .runs = {holes.run(0)},
                   .judge = [](const Outcomes& outcomes) { return holes.judge(outcomes); }},
                  {.id = "refusals",
                   .points = 10,
                   .title = "a peer that no slot reaches is an error",
                   .read = "02 Pitfalls",
                   .step = 4,
                   .needs = {"nearest"},
                   .runs = {never_queried.run(1), other_type.run(1), other_form.run(1)},
                   .judge = refuses},
                  {.id = "device",
                   .points = 15,
                   .title = "without slots on the command line the table of the first active port counts",
                   .read = "02 The verbs",
                   .step = 2,
                   .needs = {"slots", "refusals"},
                   .runs = {truth, whole, no_device, no_port},
                   .judge = reads_the_table,
                   .more = own_address_runs},
                  clean(10, {whole, no_device}, {"device"}, 2),
                  sanitized(10, {whole, networks.run(0)}, {"clean"}, 3),
                  faults(10, whole, {"sanitized"}, 2, {"ibv_query_gid_table"}),
              },
          .steps = {{"open_port", 1}, {"filled_slots", 2}, {"common_bits", 3}, {"choose", 4}}};
}

}  // namespace judge
