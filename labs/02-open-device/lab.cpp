// Lab 02: the GID that reaches a peer. The task is in README.md.
//
//     ./lab check 02                 builds and checks this file
//     ./lab hint 02 1                a hint for step 1

#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Context = lab::Owned<ibv_context, ibv_close_device>;

// A port of a device that is open.
struct Port {
  Context context;
  std::uint8_t number = 0;
};

// The first active port of the device of this name; without a name, of the first device that has one.
Port open_port(const std::string& wanted) {
  // step 1
  throw lab::Error{"step 1 opens no device yet: " + wanted};
  // end of step 1
}

// The filled slots of the GID table of this port.
std::vector<ibv_gid_entry> filled_slots(ibv_context* context, std::uint8_t number) {
  // step 2
  static_cast<void>(context);
  static_cast<void>(number);
  return {};
  // end of step 2
}

// How many bits at their beginning two GIDs have in common: 0 to 128.
[[maybe_unused]] unsigned common_bits(const ibv_gid& one, const ibv_gid& other) {
  // step 3
  static_cast<void>(one);
  static_cast<void>(other);
  return 0;
  // end of step 3
}

// The index of the slot to send from to this peer, of which gid and gid_type are known.
std::uint32_t choose(const std::vector<ibv_gid_entry>& table, const ibv_gid_entry& peer) {
  // step 4
  static_cast<void>(table);
  static_cast<void>(peer);
  throw lab::Error{"step 4 chooses nothing yet"};
  // end of step 4
}

// "v2,::ffff:192.0.2.7" as an entry of a GID table.
ibv_gid_entry parse(std::string_view text, std::uint32_t index) {
  ibv_gid_entry entry{.gid_index = index};
  const std::string_view type = text.substr(0, text.find(','));
  entry.gid_type = type == "ib" ? IBV_GID_TYPE_IB : type == "v1" ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
  const std::string address{text.substr(text.find(',') + 1)};
  if (inet_pton(AF_INET6, address.c_str(), entry.gid.raw) != 1) {
    throw lab::Error{"'" + address + "' is no GID"};
  }
  return entry;
}

void play(const lab::Options& options) {
  std::vector<ibv_gid_entry> table;
  for (const std::string& word : options.words) {
    if (word.starts_with("slot:")) {
      std::size_t end = 0;
      const unsigned long index = std::stoul(word.substr(5), &end);
      table.push_back(parse(std::string_view{word}.substr(5 + end + 1), static_cast<std::uint32_t>(index)));
    }
  }
  if (table.empty()) {
    const Port port = open_port(options.ib_dev);
    table = filled_slots(port.context.get(), port.number);
    std::printf("%s port %u: %zu slots filled\n", ibv_get_device_name(port.context->device), port.number, table.size());
  }
  for (const std::string& word : options.words) {
    if (word.starts_with("to:")) {
      std::printf("%s from index %u\n", word.c_str(), choose(table, parse(std::string_view{word}.substr(3), 0)));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 02: chooses the GID that reaches a peer", {lab::Opt::ib_dev, lab::Opt::words}, play);
}
