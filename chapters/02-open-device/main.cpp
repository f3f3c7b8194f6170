// 02-open-device: what can a device do, and which of its ports and addresses does a program use?
//
// Verbs:   ibv_open_device, ibv_close_device, ibv_query_device, ibv_query_port, ibv_query_gid_table, ibv_query_gid
// Run:     ./lab run 02                 opens the first device that has an active port
//          ./lab run 02 -d rxe0 -i 1    this device, this port
//          ./lab run 02 -g 0            asks for the GID at index 0 instead of the one chosen by rule
// Expect:  the limits of the device, a line for each port, the filled slots of the GID table, and the GID to use with
//          the rule that chose it; exit status 1 and a message when the device, the port or the GID asked for is not
//          there, or when the port is not active.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using Context = lab::Owned<ibv_context, ibv_close_device>;

struct Port {
  std::uint8_t number;  // from 1: there is no port 0
  ibv_port_attr attr;
};

ibv_device_attr query_device(ibv_context* context) {
  ibv_device_attr attr{};
  lab::check_errno(ibv_query_device(context, &attr), "ibv_query_device");
  return attr;
}

std::vector<Port> query_ports(ibv_context* context) {
  std::vector<Port> ports;
  for (unsigned number = 1; number <= query_device(context).phys_port_cnt; ++number) {
    Port port{static_cast<std::uint8_t>(number), {}};
    lab::check_errno(ibv_query_port(context, port.number, &port.attr), "ibv_query_port",
                     "port " + std::to_string(number));
    ports.push_back(port);
  }
  return ports;
}

// The port asked for, whatever its state; without a wish the first active one, and if none is, the first.
Port choose_port(ibv_context* context, int wanted) {
  const std::vector<Port> ports = query_ports(context);
  if (std::cmp_greater(wanted, ports.size())) {
    throw lab::Error(std::string{"device "} + ibv_get_device_name(context->device) + " has no port " +
                     std::to_string(wanted) + "; its ports are 1 to " + std::to_string(ports.size()));
  }
  if (wanted > 0) {
    return ports[static_cast<std::size_t>(wanted) - 1];
  }
  const auto active = std::ranges::find(ports, IBV_PORT_ACTIVE, [](const Port& port) { return port.attr.state; });
  return active != ports.end() ? *active : ports.front();
}

// The device that -d names; without -d the first one whose port is active. The list is freed on return, after the
// device was opened: from then on only the context is needed.
std::pair<Context, Port> find_and_open(const lab::Options& options) {
  int count = 0;
  const lab::Owned<ibv_device*, ibv_free_device_list> list{
      lab::check(ibv_get_device_list(&count), "ibv_get_device_list")};
  std::string names;
  for (ibv_device* const device : std::span{list.get(), static_cast<std::size_t>(count)}) {
    const std::string name = ibv_get_device_name(device);
    names += " " + name;
    if (!options.ib_dev.empty() && name != options.ib_dev) {
      continue;
    }
    Context context{lab::check(ibv_open_device(device), "ibv_open_device", name)};
    const Port port = choose_port(context.get(), options.ib_port);
    if (!options.ib_dev.empty() || port.attr.state == IBV_PORT_ACTIVE) {
      return {std::move(context), port};
    }
  }  // a device that is passed over is closed here: its context goes out of scope
  if (names.empty()) {
    throw lab::Error("this machine has no RDMA device. `./lab doctor` says why and what to do about it");
  }
  throw lab::Error(options.ib_dev.empty()
                       ? "no device has an active port; there is:" + names + ". Is the network interface up?"
                       : "no RDMA device is named '" + options.ib_dev + "'; there is:" + names);
}

void print_limits(const ibv_device_attr& attr) {
  const auto print = [](const char* name, auto value, const char* meaning) {
    std::printf("  %-14s %20llu  %s\n", name, static_cast<unsigned long long>(value), meaning);
  };
  print("max_pd", attr.max_pd, "protection domains");
  print("max_cq", attr.max_cq, "completion queues");
  print("max_cqe", attr.max_cqe, "entries of one completion queue");
  print("max_qp", attr.max_qp, "queue pairs");
  print("max_qp_wr", attr.max_qp_wr, "work requests waiting in one queue");
  print("max_sge", attr.max_sge, "pieces of memory in one work request");
  print("max_mr", attr.max_mr, "memory regions");
  print("max_mr_size", attr.max_mr_size, "bytes in one memory region");
  print("max_qp_rd_atom", attr.max_qp_rd_atom, "RDMA READs and atomics that one queue pair answers at a time");
}

void print_port(const Port& port) {
  std::printf("port %u: %s, %s, active MTU %u bytes (enum %d), max_msg_sz %u bytes, LID %u\n", port.number,
              ibv_port_state_str(port.attr.state), lab::link_layer_name(port.attr.link_layer),
              lab::mtu_bytes(port.attr.active_mtu), static_cast<int>(port.attr.active_mtu), port.attr.max_msg_sz,
              port.attr.lid);
}

// The filled slots of one port. The verb answers for all ports at once and fails when the array cannot hold them all.
std::vector<ibv_gid_entry> query_gid_table(ibv_context* context, std::span<const Port> ports, std::uint8_t number) {
  std::size_t slots = 0;
  for (const Port& port : ports) {
    slots += static_cast<std::size_t>(port.attr.gid_tbl_len);
  }
  // The size of the array in bytes is passed on in 16 bits: a larger array is refused with EINVAL.
  constexpr std::size_t most = 0xffffU / sizeof(ibv_gid_entry);  // 2047
  std::vector<ibv_gid_entry> table(std::min(slots, most));
  const ssize_t filled = ibv_query_gid_table(context, table.data(), table.size(), 0);
  if (filled < 0) {  // neither -1 nor errno: the errno value, negative
    throw lab::VerbError("ibv_query_gid_table", static_cast<int>(-filled), {});
  }
  table.resize(static_cast<std::size_t>(filled));
  std::erase_if(table, [number](const ibv_gid_entry& entry) { return entry.port_num != number; });
  return table;
}

// ibv_query_gid, the older verb, does not tell an empty slot from a filled one: it gives 128 zero bits for it.
void print_empty_slot(ibv_context* context, const Port& port, const std::vector<ibv_gid_entry>& table) {
  int empty = 0;
  while (std::ranges::any_of(table, [&](const auto& entry) { return std::cmp_equal(entry.gid_index, empty); })) {
    ++empty;
  }
  if (empty < port.attr.gid_tbl_len) {
    ibv_gid gid{};
    const int result = lab::check_minus_one(ibv_query_gid(context, port.number, empty, &gid), "ibv_query_gid",
                                            "index " + std::to_string(empty));
    std::printf("ibv_query_gid of the empty slot %d returns %d, GID %s\n", empty, result, lab::gid_text(gid).c_str());
  }
}

void print_choice(const Context& context, const Port& port, const std::vector<ibv_gid_entry>& table, int wanted) {
  if (context->device->transport_type == IBV_TRANSPORT_IWARP) {
    std::printf("GID to use: none, iWARP connects its QPs through rdma_cm\n");
    return;
  }
  const auto chosen = lab::choose_gid(table, port.attr, context->device->transport_type, wanted);
  if (!chosen) {
    std::printf("GID to use: none, within an InfiniBand subnet LID %u is the address of the port\n", port.attr.lid);
    return;
  }
  std::printf("GID to use: index %u, %s\n", chosen->gid_index,
              wanted >= 0 ? "as asked with -g"
                          : "by the rule: RoCE v2 before v1; IPv4-mapped, global, link-local; lowest index");
}

void show_device(const lab::Options& options) {
  const auto [context, port] = find_and_open(options);
  std::printf("opened %s, which gives at most\n", ibv_get_device_name(context->device));
  print_limits(query_device(context.get()));
  const std::vector<Port> ports = query_ports(context.get());
  std::ranges::for_each(ports, print_port);
  if (port.attr.state != IBV_PORT_ACTIVE) {
    throw lab::Error("port " + std::to_string(port.number) + " of " + ibv_get_device_name(context->device) + " is " +
                     ibv_port_state_str(port.attr.state) + ", not active: is its network interface up?");
  }

  const std::vector<ibv_gid_entry> table = query_gid_table(context.get(), ports, port.number);
  std::printf("GID table of port %u: %d slots, %zu filled\n", port.number, port.attr.gid_tbl_len, table.size());
  for (const ibv_gid_entry& entry : table) {
    std::printf("  index %-4u %-26s %s, %s\n", entry.gid_index, lab::gid_text(entry.gid).c_str(),
                lab::gid_type_name(entry.gid_type), lab::address_form(entry.gid));
  }
  print_empty_slot(context.get(), port, table);
  print_choice(context, port, table, options.gid_idx);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "02-open-device: opens a device and shows its limits, its ports and its GIDs",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx}, show_device);
}
