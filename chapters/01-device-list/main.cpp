// 01-device-list: which RDMA devices does this machine have, and how does a program choose one?
//
// Verbs:   ibv_get_device_list, ibv_get_device_name, ibv_get_device_guid, ibv_free_device_list
// Run:     ./lab run 01                 lists the devices
//          ./lab run 01 -d rxe0         lists them and chooses rxe0 by its name
// Expect:  one line a device, then the device chosen; exit status 1 and a message that lists what there is when the
//          name is unknown, or when there is no device at all.

#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <endian.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <span>
#include <string>

namespace {

// The transport that libibverbs reports. It is not the link layer: that belongs to the port (chapter 02).
const char* transport_name(ibv_transport_type transport) {
  switch (transport) {
    case IBV_TRANSPORT_IB:
      return "InfiniBand transport";  // InfiniBand and RoCE: the same transport, over different link layers
    case IBV_TRANSPORT_IWARP:
      return "iWARP";
    default:
      return "another transport";
  }
}

void print_device(ibv_device* device) {
  // The GUID is 64 bits in network byte order: convert before you print it as a number.
  const auto guid = be64toh(ibv_get_device_guid(device));
  std::printf("  %-10s node GUID %04x:%04x:%04x:%04x  %s\n", ibv_get_device_name(device),
              static_cast<unsigned>(guid >> 48U), static_cast<unsigned>(guid >> 32U & 0xffffU),
              static_cast<unsigned>(guid >> 16U & 0xffffU), static_cast<unsigned>(guid & 0xffffU),
              transport_name(device->transport_type));
}

// By name, never by index: nobody promises the order of the list, and it changes with the next card or boot.
ibv_device* find_by_name(std::span<ibv_device* const> devices, const std::string& name) {
  std::string names;
  for (ibv_device* const device : devices) {
    if (name == ibv_get_device_name(device)) {
      return device;
    }
    names += std::string{" "} + ibv_get_device_name(device);
  }
  throw lab::Error("no RDMA device is named '" + name + "'; there is:" + names);
}

void list_devices(const lab::Options& options) {
  // The list is an array that the library allocates. The owner frees it on every way out of this function: the two
  // throws below, and the end. Without an owner each of them would need its own ibv_free_device_list.
  int count = 0;
  const lab::Owned<ibv_device*, ibv_free_device_list> list{
      lab::check(ibv_get_device_list(&count), "ibv_get_device_list")};
  const std::span<ibv_device* const> devices{list.get(), static_cast<std::size_t>(count)};

  // No device is not a failure of the verb: it returns an empty list, not NULL.
  if (devices.empty()) {
    throw lab::Error("this machine has no RDMA device. `./lab doctor` says why and what to do about it");
  }

  std::printf("RDMA devices: %d\n", count);
  for (ibv_device* const device : devices) {
    print_device(device);
  }

  if (!options.ib_dev.empty()) {
    ibv_device* const chosen = find_by_name(devices, options.ib_dev);
    std::printf("chosen by name: %s\n", ibv_get_device_name(chosen));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "01-device-list: lists the RDMA devices and chooses one by name", {lab::Opt::ib_dev},
                  list_devices);
}
