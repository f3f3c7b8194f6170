// What lab 10 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace judge {

namespace {

using namespace std::string_literals;

const Run unequal{.name = "one side wants an MTU of 1024 bytes and the other one 256", .arguments = {"1024", "256"}};
const Run reversed{.name = "one side wants an MTU of 256 bytes and the other one 512", .arguments = {"256", "512"}};
const Run large{.name = "both sides want an MTU of 4096 bytes", .arguments = {"4096", "4096"}};

// A record as it has to be understood, and the line that the program prints for it.
struct Good {
  std::string record;
  std::string line;
};
const std::array<Good, 5> good{{
    {"1a2b:00beef:fedcba:20010db8000100020003000400050006:0100\0"s,
     "LID 0x1a2b, QPN 0x00beef, PSN 0xfedcba, GID 2001:db8:1:2:3:4:5:6, MTU 256"},
    {"0000:000012:0fb176:00000000000000000000ffffc0000202:0200\0"s,
     "LID 0x0000, QPN 0x000012, PSN 0x0fb176, GID ::ffff:192.0.2.2, MTU 512"},
    {"ffff:ffffff:ffffff:fe80000000000000505400fffe123456:0400\0"s,
     "LID 0xffff, QPN 0xffffff, PSN 0xffffff, GID fe80::5054:ff:fe12:3456, MTU 1024"},
    {"0001:000002:000003:00000000000000000000000000000000:0800\0"s,
     "LID 0x0001, QPN 0x000002, PSN 0x000003, GID ::, MTU 2048"},
    {"0010:000020:000000:2001000a000b000c000d000e000f0010:1000\0"s,
     "LID 0x0010, QPN 0x000020, PSN 0x000000, GID 2001:a:b:c:d:e:f:10, MTU 4096"},
}};

struct Bad {
  std::string what;
  std::string record;
};
const std::vector<Bad> bad{
    {"three bytes long", "000"s},
    {"one byte too short: its NUL has not come yet", "0000:000012:0fb176:00000000000000000000ffffc0000202:0400"s},
    {"one byte too long", "0000:000012:0fb176:00000000000000000000ffffc0000202:0400\0x"s},
    {"with a 'g' among the digits of the QPN", "0000:0000g2:0fb176:00000000000000000000ffffc0000202:0400\0"s},
    {"with a blank for a digit of the PSN", "0000:000012: fb176:00000000000000000000ffffc0000202:0400\0"s},
    {"with a sign before the LID", "+001:000012:0fb176:00000000000000000000ffffc0000202:0400\0"s},
    {"with 0x before the QPN", "0000:0x0012:0fb176:00000000000000000000ffffc0000202:0400\0"s},
    {"with a sign in the GID", "0000:000012:0fb176:00000000000000000000ffffc00002-2:0400\0"s},
    {"with a NUL in the middle of the GID", "0000:000012:0fb176:0000000000000000\0000ffffc0000202:0400\0"s},
    {"with a NUL for a digit of the MTU", "0000:000012:0fb176:00000000000000000000ffffc0000202:100\0\0"s},
    {"with a semicolon for a colon", "0000;000012:0fb176:00000000000000000000ffffc0000202:0400\0"s},
    {"with a dot for the last colon", "0000:000012:0fb176:00000000000000000000ffffc0000202.0400\0"s},
    {"with a digit for the NUL at the end", "0000:000012:0fb176:00000000000000000000ffffc0000202:04000"s},
    {"with an MTU of 1000, which is none of the five", "0000:000012:0fb176:00000000000000000000ffffc0000202:03e8\0"s},
    {"with an MTU of 0", "0000:000012:0fb176:00000000000000000000ffffc0000202:0000\0"s},
};

// The bad ones with a good one before and behind them: a bad one must not change what comes after it.
std::string bad_between_good() {
  std::string text = good[0].record + '\n';
  for (const Bad& one : bad) {
    text += one.record + '\n';
  }
  return text + good[1].record + '\n';
}

std::string all_good() {
  std::string text;
  for (const Good& one : good) {
    text += one.record + '\n';
  }
  return text;
}

const Run reading{.name = "good records are read", .arguments = {}, .input = all_good()};
const Run refusing{.name = "bad records stand among good ones", .arguments = {}, .input = bad_between_good()};

// What one side of a run has told: its address as the program prints it, and its record.
struct Side {
  std::string address;
  unsigned lid = 0;
  unsigned qpn = 0;
  unsigned psn = 0;
  std::string gid;
  std::string record;

  // All of the record but the MTU.
  [[nodiscard]] std::string expected() const {
    std::array<unsigned char, 16> bytes{};
    inet_pton(AF_INET6, gid.c_str(), bytes.data());
    std::array<char, 64> text{};
    int used = std::snprintf(text.data(), text.size(), "%04x:%06x:%06x:", lid, qpn, psn);
    for (const unsigned char byte : bytes) {
      used += std::snprintf(text.data() + used, text.size() - static_cast<std::size_t>(used), "%02x", byte);
    }
    return text.data() + ":"s;
  }

  // 0 where there is none.
  [[nodiscard]] unsigned mtu() const {
    return record.size() == 56 ? static_cast<unsigned>(std::strtoul(record.c_str() + 52, nullptr, 16)) : 0;
  }
};

struct Meeting {
  unsigned active_mtu = 0;
  std::vector<Side> sides;
};

Meeting meeting_of(const Outcome& outcome) {
  Meeting meeting;
  const auto lines = outcome.lines();
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::array<char, 64> gid{};
    Side side{.address = lines[at]};
    if (std::sscanf(lines[at].c_str(), "port: active MTU %u", &meeting.active_mtu) == 1) {
      continue;
    }
    if (std::sscanf(lines[at].c_str(), "LID 0x%x, QPN 0x%x, PSN 0x%x, GID %63s", &side.lid, &side.qpn, &side.psn,
                    gid.data()) == 4) {
      side.gid = gid.data();
      side.record = at + 1 < lines.size() ? lines[at + 1] : "";
      // The NUL at its end is printed as it is, where there is one.
      side.record.erase(std::ranges::find(side.record, '\0'), side.record.end());
      meeting.sides.push_back(side);
    }
  }
  return meeting;
}

Judgement writes(const Outcomes& outcomes) {
  const Meeting meeting = meeting_of(outcomes.at(unequal.name));
  if (meeting.sides.size() != 2) {
    return Failure{"the addresses and records of two sides when " + unequal.name,
                   excerpt(outcomes.at(unequal.name).out + outcomes.at(unequal.name).err)};
  }
  for (const Side& side : meeting.sides) {
    if (side.record.empty()) {
      return Failure{"a record of 57 bytes for each side", "an empty one for " + side.address,
                     "step 1 does not write one yet"};
    }
    if (!side.record.starts_with(side.expected()) || side.record.size() != 56) {
      return Failure{
          "for " + side.address + " the record " + side.expected() + "MMMM, with the MTU for MMMM, and a NUL",
          excerpt(side.record),
          "a field without its leading zeros, in decimal digits, or in another byte order: a GID is written byte by "
          "byte"};
    }
  }
  return {};
}

Judgement reads(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(reading.name);
  const auto lines = outcome.lines();
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= lines.size() || lines[at] != good[at].line) {
      return Failure{
          "of the record " + good[at].record.substr(0, 56) + " and its NUL the line \"" + good[at].line + "\"",
          at < lines.size() ? excerpt(lines[at]) : "nothing",
          "a field is read with too few or too many digits, with another base, or in another byte order"};
    }
  }
  return {};
}

Judgement refuses(const Outcomes& outcomes) {
  const auto lines = outcomes.at(refusing.name).lines();
  if (lines.size() != bad.size() + 2) {
    return Failure{"a line for each of " + std::to_string(bad.size() + 2) +
                       " records, \"refused: \" and the reason for each bad one",
                   std::to_string(lines.size()) + " lines: " + excerpt(outcomes.at(refusing.name).out)};
  }
  for (std::size_t at = 0; at < bad.size(); ++at) {
    if (!lines[at + 1].starts_with("refused: ")) {
      std::string shown = bad[at].record;
      std::ranges::replace(shown, '\0', '@');
      return Failure{
          "a record " + bad[at].what + " is refused with lab::Error; with @ for each NUL it is " + shown,
          "it was taken: " + excerpt(lines[at + 1]),
          "look at the length first, then at each separator and the NUL, then at each digit: sscanf and strtoul "
          "take blanks, signs and 0x, and stop at what is no digit without a word"};
    }
  }
  for (const auto& [line, one] : {std::pair{lines.front(), good[0]}, std::pair{lines.back(), good[1]}}) {
    if (line != one.line) {
      return Failure{"a good record before or behind bad ones is read as any other: \"" + one.line + "\"",
                     excerpt(line)};
    }
  }
  return {};
}

// The successful transitions of one QP to a state, and the side whose QP it is.
const Call* transition(const std::vector<Call>& calls, const std::string& object, const char* state) {
  const Call* found = nullptr;
  for (const Call& call : calls) {
    if (call.object == object && call.arguments.value("qp_state", "") == state) {
      found = &call;
    }
  }
  return found;
}

Failure wrong_number(const Call& call, const char* field, const char* whose, unsigned expected) {
  return {
      std::string{field} + " " + std::to_string(expected) + ", " + whose + ", for " + call.object,
      std::to_string(call.arguments.value(field, 0U)) + " in " + call.where,
      "what the other side tells belongs into RTR (dest_qp_num, rq_psn), what this side has told into RTS (sq_psn)"};
}

// Both QPs of a run from INIT to RTS, each with the numbers of the right side. With `mtu`: only the path MTU is looked
// at.
Judgement held_against_records(const Run& run, const Outcome& outcome, bool mtu) {
  const Meeting meeting = meeting_of(outcome);
  const auto made = outcome.succeeded("ibv_create_qp");
  const auto changes = outcome.succeeded("ibv_modify_qp");
  if (meeting.sides.size() != 2 || made.size() != 2) {
    return Failure{"two sides with a QP each when " + run.name, excerpt(outcome.out + outcome.err)};
  }
  const unsigned path_mtu = std::min(meeting.sides[0].mtu(), meeting.sides[1].mtu());
  for (const Call& qp : made) {
    const auto number = qp.arguments.value("qp_num", 0U);
    const std::size_t own = number == meeting.sides[0].qpn ? 0 : 1;
    const Side& side = meeting.sides[own];
    const Side& other = meeting.sides[1 - own];
    const Call* const rtr = transition(changes, qp.object, "RTR");
    const Call* const rts = transition(changes, qp.object, "RTS");
    if (rtr == nullptr || rts == nullptr) {
      return Failure{qp.object + " goes from INIT to RTR and to RTS when " + run.name,
                     rtr == nullptr ? "it never was in RTR" : "it was in RTR, but never in RTS",
                     "step 4 does not do it yet: lab::to_rtr and lab::to_rts"};
    }
    if (mtu) {
      const auto seen = rtr->arguments.value("path_mtu", 0U);
      if (seen != path_mtu) {
        return Failure{"the smaller MTU of the two records, " + std::to_string(path_mtu) + " bytes, as path_mtu of " +
                           qp.object + " when " + run.name,
                       std::to_string(seen) + " bytes in " + rtr->where,
                       seen == std::max(meeting.sides[0].mtu(), meeting.sides[1].mtu())
                           ? "it is the MTU of one side, whatever the other one has told"
                           : "path.mtu is not set, or is set to a number of bytes: lab::mtu_from_bytes"};
      }
      continue;
    }
    if (rtr->arguments.value("dest_qp_num", 0U) != other.qpn) {
      return wrong_number(*rtr, "dest_qp_num", "the QPN that the other side has told", other.qpn);
    }
    if (rtr->arguments.value("rq_psn", 0U) != other.psn) {
      return wrong_number(*rtr, "rq_psn", "the PSN that the other side has told", other.psn);
    }
    if (rts->arguments.value("sq_psn", 0U) != side.psn) {
      return wrong_number(*rts, "sq_psn", "the PSN that this side has told", side.psn);
    }
  }
  return {};
}

Judgement connected(const Outcomes& outcomes) {
  return held_against_records(unequal, outcomes.at(unequal.name), false);
}

Judgement agrees(const Outcomes& outcomes) {
  for (const Run* const run : {&unequal, &reversed, &large}) {
    const Outcome& outcome = outcomes.at(run->name);
    const Meeting meeting = meeting_of(outcome);
    for (std::size_t side = 0; side < meeting.sides.size(); ++side) {
      const unsigned expected = std::min(static_cast<unsigned>(std::stoul(run->arguments[side])), meeting.active_mtu);
      if (meeting.sides[side].mtu() != expected) {
        return Failure{"an MTU of " + std::to_string(expected) + " bytes in the record of " +
                           meeting.sides[side].address + " when " + run->name + " and the port's active MTU is " +
                           std::to_string(meeting.active_mtu),
                       std::to_string(meeting.sides[side].mtu()) + " in " + excerpt(meeting.sides[side].record),
                       "larger packets than the port's active MTU are dropped on the way, and both sides wait"};
      }
    }
    if (auto failure = held_against_records(*run, outcome, true)) {
      return failure;
    }
  }
  return {};
}

}  // namespace

Lab lab() {
  Run unequal_of_any_status = unequal;
  unequal_of_any_status.exit_status = any_status;
  return {.name = "10-connection-exchange",
          .title = "A record that tells the path MTU as well",
          .checks = {
              {.id = "record",
               .points = 20,
               .title = "a record has the address of its QP, digit for digit",
               .read = "10 The verbs",
               .step = 1,
               .runs = {unequal_of_any_status},
               .judge = writes},
              {.id = "reads",
               .points = 10,
               .title = "a record is read as it was meant",
               .read = "10 The code",
               .step = 2,
               .needs = {"record"},
               .runs = {reading},
               .judge = reads},
              {.id = "refuses",
               .points = 20,
               .title = "what is no record is refused",
               .read = "10 The code",
               .step = 2,
               .needs = {"reads"},
               .runs = {refusing},
               .judge = refuses},
              {.id = "connected",
               .points = 15,
               .title = "each QP gets the numbers of the right side",
               .read = "10 The verbs",
               .step = 4,
               .needs = {"refuses"},
               .runs = {unequal},
               .judge = connected},
              {.id = "mtu",
               .points = 15,
               .title = "no side tells more than its port carries, and both take the smaller MTU",
               .read = "11 Pitfalls",
               .step = 3,
               .needs = {"connected"},
               .runs = {unequal, reversed, large},
               .judge = agrees},
              clean(5, {unequal, reversed, large, reading}, {"mtu"}, 4),
              sanitized(5, {unequal, refusing}, {"clean"}, 2),
              faults(5, unequal, {"sanitized"}, 4),
          }};
}

}  // namespace judge
