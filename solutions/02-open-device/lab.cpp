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
  int count = 0;
  const lab::Owned<ibv_device*, ibv_free_device_list> list{
      lab::check(ibv_get_device_list(&count), "ibv_get_device_list")};
  for (ibv_device* const device : std::span{list.get(), static_cast<std::size_t>(count)}) {
    const std::string name = ibv_get_device_name(device);
    if (!wanted.empty() && name != wanted) {
      continue;
    }
    Context context{lab::check(ibv_open_device(device), "ibv_open_device", name)};
    ibv_device_attr limits{};
    lab::check_errno(ibv_query_device(context.get(), &limits), "ibv_query_device", name);
    for (std::uint8_t number = 1; number <= limits.phys_port_cnt; ++number) {
      ibv_port_attr port{};
      lab::check_errno(ibv_query_port(context.get(), number, &port), "ibv_query_port", name);
      if (port.state == IBV_PORT_ACTIVE) {
        return {std::move(context), number};
      }
    }
  }
  throw lab::Error{wanted.empty() ? "no device has an active port" : "no device " + wanted + " has an active port"};
  // end of step 1
}

// The filled slots of the GID table of this port.
std::vector<ibv_gid_entry> filled_slots(ibv_context* context, std::uint8_t number) {
  // step 2
  ibv_device_attr limits{};
  lab::check_errno(ibv_query_device(context, &limits), "ibv_query_device");
  std::size_t slots = 0;
  for (std::uint8_t each = 1; each <= limits.phys_port_cnt; ++each) {
    ibv_port_attr port{};
    lab::check_errno(ibv_query_port(context, each, &port), "ibv_query_port");
    slots += static_cast<std::size_t>(port.gid_tbl_len);
  }
  // The verb answers for all ports at once, and refuses an array of more bytes than 16 bits can tell.
  constexpr std::size_t most = 0xffffU / sizeof(ibv_gid_entry);  // 2047
  std::vector<ibv_gid_entry> table(slots < most ? slots : most);
  const ssize_t filled = ibv_query_gid_table(context, table.data(), table.size(), 0);
  if (filled < 0) {
    throw lab::VerbError{"ibv_query_gid_table", static_cast<int>(-filled), {}};
  }
  table.resize(static_cast<std::size_t>(filled));
  std::erase_if(table, [number](const ibv_gid_entry& slot) { return slot.port_num != number; });
  return table;
  // end of step 2
}

// How many bits at their beginning two GIDs have in common: 0 to 128.
[[maybe_unused]] unsigned common_bits(const ibv_gid& one, const ibv_gid& other) {
  // step 3
  unsigned bits = 0;
  while (bits < 128 && ((one.raw[bits / 8] ^ other.raw[bits / 8]) & (0x80U >> bits % 8)) == 0) {
    ++bits;
  }
  return bits;
  // end of step 3
}

// The index of the slot to send from to this peer, of which gid and gid_type are known.
std::uint32_t choose(const std::vector<ibv_gid_entry>& table, const ibv_gid_entry& peer) {
  // step 4
  if (lab::gid_is_zero(peer.gid)) {
    throw lab::Error{"the peer's GID is " + lab::gid_text(peer.gid) + ": it has never been queried"};
  }
  const std::string_view form = lab::address_form(peer.gid);
  const ibv_gid_entry* best = nullptr;
  unsigned best_bits = 0;
  for (const ibv_gid_entry& slot : table) {
    if (slot.gid_type != peer.gid_type || lab::address_form(slot.gid) != form) {
      continue;
    }
    const unsigned bits = common_bits(slot.gid, peer.gid);
    if (best == nullptr || bits > best_bits || (bits == best_bits && slot.gid_index < best->gid_index)) {
      best = &slot;
      best_bits = bits;
    }
  }
  if (best == nullptr) {
    throw lab::Error{"no slot has the type and the form of the peer's GID " + lab::gid_text(peer.gid)};
  }
  return best->gid_index;
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
