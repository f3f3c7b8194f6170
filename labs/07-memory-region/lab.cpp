// Lab 07: the least rights for each piece of memory. The task is in README.md.
//
//     ./lab check 07                 builds and checks this file
//     ./lab hint 07 1                a hint for step 1

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;

// The memory of the program. It begins at a page, so an offset that is a multiple of 8 is an address that is one.
alignas(4096) std::array<std::byte, 16384> arena{};

// A word of the command line, ROLE:OFFSET:LENGTH.
struct Piece {
  std::string role;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// The least rights with which a piece of memory can play this role; nothing when there is no such role.
std::optional<unsigned> rights_for(std::string_view role) {
  // step 1
  // Everything for everybody, so far.
  static_cast<void>(role);
  return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  // end of step 1
}

// Why this piece must not be registered; empty when it may.
std::string reason_to_refuse(const Piece& piece) {
  // step 2
  static_cast<void>(piece);
  return {};
  // end of step 2
}

// Registers a piece that may be registered.
Mr register_piece(ibv_pd* pd, const Piece& piece) {
  // step 3
  const unsigned rights = rights_for(piece.role).value_or(0);
  return Mr{lab::check(ibv_reg_mr(pd, arena.data(), arena.size(), rights), "ibv_reg_mr", piece.role)};
  // end of step 3
}

// The key that a peer has to be told to do its part; nothing when it has no business there.
std::optional<std::uint32_t> key_for_peer(const ibv_mr& mr, const Piece& piece) {
  // step 4
  static_cast<void>(piece);
  return mr.lkey;
  // end of step 4
}

std::uint64_t parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) {
    throw lab::Error{"'" + std::string{text} + "' is no number from 0 to 2^64 - 1"};
  }
  return number;
}

Piece parse_piece(const std::string& word) {
  const auto first = word.find(':');
  const auto second = first == std::string::npos ? first : word.find(':', first + 1);
  if (second == std::string::npos) {
    throw lab::Error{"'" + word + "' is not ROLE:OFFSET:LENGTH"};
  }
  const std::string_view text{word};
  return {word.substr(0, first), parse_number(text.substr(first + 1, second - first - 1)),
          parse_number(text.substr(second + 1))};
}

void hand_out(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const Pd pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  std::vector<Mr> regions;
  for (const std::string& word : options.words) {
    const Piece piece = parse_piece(word);
    if (const std::string reason = reason_to_refuse(piece); !reason.empty()) {
      std::printf("%s: refused, %s\n", word.c_str(), reason.c_str());
      continue;
    }
    const ibv_mr& mr = *regions.emplace_back(register_piece(pd.get(), piece));
    std::printf("%s: %zu bytes from %td, lkey 0x%08x, rkey 0x%08x, ", word.c_str(), mr.length,
                static_cast<std::byte*>(mr.addr) - arena.data(), mr.lkey, mr.rkey);
    if (const auto key = key_for_peer(mr, piece)) {
      std::printf("to the peer: 0x%08x\n", *key);
    } else {
      std::printf("nothing to the peer\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 07: each piece of memory gets the rights that its role needs",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::words}, hand_out);
}
