#include "common/device.hpp"

#include "common/errors.hpp"
#include "common/units.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace lab {

namespace {

using DeviceList = Owned<ibv_device*, ibv_free_device_list>;

struct List {
  DeviceList owner;
  std::span<ibv_device* const> devices;
};

List list_devices() {
  int count = 0;
  DeviceList owner{check(ibv_get_device_list(&count), "ibv_get_device_list")};
  const std::span<ibv_device* const> devices{owner.get(), static_cast<std::size_t>(count)};
  return {std::move(owner), devices};
}

std::string names(std::span<ibv_device* const> devices) {
  std::string text;
  for (ibv_device* const device : devices) {
    text += std::string{" "} + ibv_get_device_name(device);
  }
  return text;
}

ibv_port_attr query_port(ibv_context* context, std::uint8_t port) {
  ibv_port_attr attr{};
  check_errno(ibv_query_port(context, port, &attr), "ibv_query_port", "port " + std::to_string(port));
  return attr;
}

std::uint8_t port_count(ibv_context* context) {
  ibv_device_attr attr{};
  check_errno(ibv_query_device(context, &attr), "ibv_query_device");
  return attr.phys_port_cnt;
}

// Fills in the port to use: the one asked for, else the first active one. Returns false when no port is active.
bool choose_port(Device& device, int wanted) {
  const std::uint8_t count = port_count(device.context.get());
  if (wanted > count) {
    throw Error("device " + std::string{device.name()} + " has no port " + std::to_string(wanted) +
                "; its ports are 1 to " + std::to_string(count));
  }
  for (unsigned number = 1; number <= count; ++number) {
    if (wanted > 0 && std::cmp_not_equal(number, wanted)) {
      continue;
    }
    device.port = static_cast<std::uint8_t>(number);
    device.port_attr = query_port(device.context.get(), device.port);
    if (device.port_attr.state == IBV_PORT_ACTIVE) {
      return true;
    }
  }
  return false;
}

Device open_context(ibv_device* device) {
  return {Owned<ibv_context, ibv_close_device>{
      check(ibv_open_device(device), "ibv_open_device", ibv_get_device_name(device))}};
}

Device open_by_name(const List& list, const Options& options) {
  for (ibv_device* const candidate : list.devices) {
    if (options.ib_dev == ibv_get_device_name(candidate)) {
      Device device = open_context(candidate);
      if (!choose_port(device, options.ib_port)) {
        throw Error("port " + std::to_string(device.port) + " of " + options.ib_dev + " is " +
                    ibv_port_state_str(device.port_attr.state) + ", not active: is its network interface up?");
      }
      return device;
    }
  }
  throw Error("no RDMA device is named '" + options.ib_dev + "'; there is:" + names(list.devices));
}

// Lower is better.
int rank(const ibv_gid_entry& entry) {
  const std::string_view form = address_form(entry.gid);
  const int form_rank = form == "IPv4-mapped" ? 0 : form == "global" ? 1 : 2;
  return (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 0 : 10) + form_rank;
}

}  // namespace

Device open_device(const Options& options) {
  const List list = list_devices();
  if (list.devices.empty()) {
    throw Error("this machine has no RDMA device. `./lab doctor` says why and what to do about it");
  }
  if (!options.ib_dev.empty()) {
    return open_by_name(list, options);
  }
  for (ibv_device* const candidate : list.devices) {
    Device device = open_context(candidate);
    if (choose_port(device, options.ib_port)) {
      return device;
    }
  }
  throw Error("no device has an active port; there is:" + names(list.devices) + ". Is the network interface up?");
}

std::vector<ibv_gid_entry> gid_table(ibv_context* context, std::uint8_t port) {
  // The library gives the tables of all ports at once, without the empty slots, and wants room for all that are filled.
  std::size_t slots = 0;
  for (unsigned number = 1; number <= port_count(context); ++number) {
    slots += static_cast<std::size_t>(query_port(context, static_cast<std::uint8_t>(number)).gid_tbl_len);
  }
  // The size of the array in bytes is passed on in 16 bits: a larger array is refused with EINVAL.
  constexpr std::size_t most = 0xffffU / sizeof(ibv_gid_entry);  // 2047
  std::vector<ibv_gid_entry> table(std::min(slots, most));
  const ssize_t filled = ibv_query_gid_table(context, table.data(), table.size(), 0);
  if (filled < 0) {  // a fourth way of saying it: the negative errno value
    throw VerbError("ibv_query_gid_table", static_cast<int>(-filled), {});
  }
  table.resize(static_cast<std::size_t>(filled));
  std::erase_if(table, [port](const ibv_gid_entry& entry) { return entry.port_num != port; });
  return table;
}

std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> table, const ibv_port_attr& port,
                                        ibv_transport_type transport, int wanted) {
  if (transport == IBV_TRANSPORT_IWARP) {
    throw Error("an iWARP device connects its QPs through rdma_cm only, not by an exchange of GIDs");
  }
  if (wanted >= 0) {
    const auto found = std::ranges::find_if(
        table, [wanted](const ibv_gid_entry& entry) { return std::cmp_equal(entry.gid_index, wanted); });
    if (found != table.end() && !gid_is_zero(found->gid)) {
      return *found;
    }
    std::string filled;
    for (const ibv_gid_entry& entry : table) {
      filled += " " + std::to_string(entry.gid_index);
    }
    throw Error("the GID table is empty at index " + std::to_string(wanted) + "; filled:" + filled);
  }
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET && (port.flags & IBV_QPF_GRH_REQUIRED) == 0) {
    return std::nullopt;
  }
  const auto best = std::ranges::min_element(table, {}, [](const ibv_gid_entry& entry) {
    return std::pair{gid_is_zero(entry.gid) ? 1000 : rank(entry), entry.gid_index};
  });
  if (best == table.end() || gid_is_zero(best->gid)) {
    throw Error("the port has no GID: on Ethernet its network interface must be up and have an address");
  }
  return *best;
}

std::optional<ibv_gid_entry> choose_gid(const Device& device, const Options& options) {
  return choose_gid(gid_table(device.context.get(), device.port), device.port_attr,
                    device.context->device->transport_type, options.gid_idx);
}

}  // namespace lab
