// What lab 07 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

namespace judge {

namespace {

using Rights = std::set<std::string>;

struct Role {
  const char* word;
  Rights rights;
  bool is_for_peer;
};
const std::array roles{
    Role{"send:0:64", {}, false},
    Role{"receive:64:64", {"IBV_ACCESS_LOCAL_WRITE"}, false},
    Role{"fetch:128:64", {"IBV_ACCESS_LOCAL_WRITE"}, false},
    Role{"be-read:192:64", {"IBV_ACCESS_REMOTE_READ"}, true},
    Role{"be-written:256:64", {"IBV_ACCESS_LOCAL_WRITE", "IBV_ACCESS_REMOTE_WRITE"}, true},
    Role{"be-counted:320:64", {"IBV_ACCESS_LOCAL_WRITE", "IBV_ACCESS_REMOTE_ATOMIC"}, true},
};

struct Piece {
  const char* word;
  std::int64_t offset;
  std::int64_t length;
};
constexpr std::array pieces{Piece{"receive:4096:8192", 4096, 8192}, Piece{"receive:1:1", 1, 1},
                            Piece{"send:0:16384", 0, 16384}, Piece{"be-read:16383:1", 16383, 1},
                            Piece{"be-counted:16376:8", 16376, 8}};

struct Refusal {
  const char* word;
  const char* reason;
};
constexpr std::array refusals{
    Refusal{"receive:0:0", "a length of 0 is no memory; whether ibv_reg_mr refuses it depends on the address"},
    Refusal{"receive:100:0", "a length of 0 is no memory; whether ibv_reg_mr refuses it depends on the address"},
    Refusal{"receive:16384:1", "the arena ends before it"},
    Refusal{"receive:16000:1000", "it begins in the arena and ends outside"},
    Refusal{"receive:0:16385", "it begins in the arena and ends outside"},
    Refusal{"receive:18446744073709551615:2",
            "offset + length is 1 here, since a sum above 2^64 - 1 begins at 0 again"},
    Refusal{"receive:1:18446744073709551615",
            "offset + length is 0 here, since a sum above 2^64 - 1 begins at 0 again"},
    Refusal{"receive:9223372036854775807:1",
            "it is far outside; offset + length is 2^63, which no signed number of 64 bits holds"},
    Refusal{"be-counted:4:8", "an atomic works on 8 bytes at an address that is a multiple of 8"},
    Refusal{"be-counted:8:12", "an atomic works on 8 bytes at a time, and 12 is no multiple of 8"},
    Refusal{"dance:0:8", "there is no such role"},
};

template <class Words>
std::vector<std::string> words_of(const Words& from, std::vector<std::string> words = {}) {
  for (const auto& each : from) {
    words.emplace_back(each.word);
  }
  return words;
}

const Run each_role{.name = "there is a piece for each role", .arguments = words_of(roles)};
const Run good_pieces{.name = "the pieces have all kinds of places", .arguments = words_of(pieces)};
const Run bad_pieces{.name = "only the last of the pieces is good", .arguments = [] {
                       auto words = words_of(refusals);
                       words.emplace_back("send:8:8");
                       return words;
                     }()};

// What is a right; other flags, for instance IBV_ACCESS_RELAXED_ORDERING, are none.
Rights rights_of(const Call& call) {
  const std::string text = call.arguments.value("access", "");
  Rights rights;
  for (const char* name : {"IBV_ACCESS_LOCAL_WRITE", "IBV_ACCESS_REMOTE_READ", "IBV_ACCESS_REMOTE_WRITE",
                           "IBV_ACCESS_REMOTE_ATOMIC", "IBV_ACCESS_MW_BIND"}) {
    if (text.find(name) != std::string::npos) {
      rights.insert(name);
    }
  }
  return rights;
}

std::string text_of(const Rights& rights) {
  std::string text;
  for (const std::string& right : rights) {
    text += (text.empty() ? "" : " | ") + right;
  }
  return text.empty() ? "0" : text;
}

// The line about a word, without the word and ": ".
std::string line_about(const Outcome& outcome, const std::string& word) {
  for (const std::string& line : outcome.lines()) {
    if (line.starts_with(word + ": ")) {
      return line.substr(word.size() + 2);
    }
  }
  return {};
}

Judgement least_rights(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(each_role.name);
  const auto registered = outcome.succeeded("ibv_reg_mr");
  if (registered.size() != roles.size()) {
    for (const Call& call : outcome.of("ibv_reg_mr")) {
      if (call.result != 0) {
        return Failure{"a region for each of the six roles",
                       "ibv_reg_mr has refused " + text_of(rights_of(call)) + ", in " + call.where,
                       "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well"};
      }
    }
    return Failure{"ibv_reg_mr six times, once for each role", seen_calls(registered, "ibv_reg_mr")};
  }
  for (std::size_t at = 0; at < roles.size(); ++at) {
    const Rights rights = rights_of(registered[at]);
    if (rights != roles.at(at).rights) {
      const bool more = std::ranges::includes(rights, roles.at(at).rights);
      return Failure{"access " + text_of(roles.at(at).rights) + " for " + roles.at(at).word,
                     text_of(rights) + ", in " + registered[at].where,
                     more ? "a right that the role does not need: whoever has the key may use it"
                          : "a right that the role needs is missing: ask who writes here, and who reads"};
    }
  }
  return {};
}

Judgement right_places(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(good_pieces.name);
  for (const Piece& piece : pieces) {
    const std::string line = line_about(outcome, piece.word);
    const std::string expected = std::to_string(piece.length) + " bytes from " + std::to_string(piece.offset) + ",";
    if (!line.starts_with(expected)) {
      return Failure{"a region of " + std::to_string(piece.length) + " bytes at offset " +
                         std::to_string(piece.offset) + " for " + piece.word,
                     "the program says: " + excerpt(line),
                     line.starts_with("refused")
                         ? "the last byte of the piece is the last one of the arena: it is within"
                         : "the address or the length of the piece is not what is registered"};
    }
  }
  return {};
}

Judgement refused(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(bad_pieces.name);
  for (const Refusal& refusal : refusals) {
    const std::string line = line_about(outcome, refusal.word);
    if (!line.starts_with("refused, ")) {
      return Failure{std::string{refusal.word} + " is refused",
                     "the program says: " + excerpt(line.empty() ? outcome.err : line), refusal.reason};
    }
  }
  const auto registered = outcome.of("ibv_reg_mr");
  if (registered.size() != 1) {
    return Failure{"ibv_reg_mr for the last piece only when " + bad_pieces.name, seen_calls(registered, "ibv_reg_mr"),
                   "what is refused is never given to the verb"};
  }
  if (outcome.status != 0) {
    return Failure{"exit status 0 when " + bad_pieces.name,
                   "exit status " + std::to_string(outcome.status) + "; on standard error: " + excerpt(outcome.err)};
  }
  return {};
}

Judgement right_keys(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(each_role.name);
  for (const Role& role : roles) {
    const std::string line = line_about(outcome, role.word);
    const auto at = line.find("lkey ");
    unsigned lkey = 0;
    unsigned rkey = 0;
    unsigned told = 0;
    const int found = at == std::string::npos
                          ? 0
                          : std::sscanf(line.c_str() + at, "lkey %x, rkey %x, to the peer: %x", &lkey, &rkey, &told);
    if (!role.is_for_peer && found == 3) {
      return Failure{std::string{"nothing for the peer, which has no business in "} + role.word,
                     "the program says: " + excerpt(line), "a key is for whoever has to reach the memory"};
    }
    if (role.is_for_peer && (found != 3 || told != rkey)) {
      return Failure{std::string{"the rkey for the peer that reaches "} + role.word,
                     "the program says: " + excerpt(line),
                     found == 3 && told == lkey
                         ? "the lkey is for requests of one's own QPs; that both are one number is luck of some devices"
                         : ""};
    }
  }
  return {};
}

}  // namespace

Lab lab() {
  Run each_role_of_any_status = each_role;
  each_role_of_any_status.exit_status = any_status;
  Run bad_pieces_of_any_status = bad_pieces;
  bad_pieces_of_any_status.exit_status = any_status;
  return {.name = "07-memory-region",
          .title = "The least rights for each piece of memory",
          .checks = {
              {.id = "rights",
               .points = 30,
               .title = "each role has the rights that it needs, and no more",
               .read = "07 The verbs",
               .step = 1,
               .runs = {each_role_of_any_status},
               .judge = least_rights},
              {.id = "places",
               .points = 10,
               .title = "each region is its piece, up to the last byte of the arena",
               .read = "07 The code",
               .step = 3,
               .needs = {"rights"},
               .runs = {good_pieces},
               .judge = right_places},
              {.id = "refusals",
               .points = 25,
               .title = "what is no good piece is refused before the verb is called",
               .read = "07 What the run prints",
               .step = 2,
               .needs = {"places"},
               .runs = {bad_pieces_of_any_status},
               .judge = refused},
              {.id = "keys",
               .points = 10,
               .title = "a peer gets the rkey, and only where it has something to do",
               .read = "07 Pitfalls",
               .step = 4,
               .needs = {"rights"},
               .runs = {each_role},
               .judge = right_keys},
              clean(5, {each_role, good_pieces, bad_pieces}, {"refusals", "keys"}, 3),
              sanitized(5, {each_role, bad_pieces}, {"clean"}, 2),
              faults(10, each_role, {"sanitized"}, 3),
          }};
}

}  // namespace judge
