// How do I list the ports, and find one that is active?

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

// The ports of the device; the first in the list is port 1.
std::vector<ibv_port_attr> ports_of(ibv_context* context) {
  ibv_device_attr device{};
  if (const int error = ibv_query_device(context, &device); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_query_device");
  }
  std::vector<ibv_port_attr> ports(device.phys_port_cnt);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (const int error = ibv_query_port(context, static_cast<std::uint8_t>(i + 1), &ports[i]); error != 0) {
      throw std::system_error(error, std::generic_category(), "ibv_query_port");
    }
  }
  return ports;
}

// The number of the first active port; 0, which is no port number, when there is none.
std::uint8_t active_port(ibv_context* context) {
  const std::vector<ibv_port_attr> ports = ports_of(context);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].state == IBV_PORT_ACTIVE) {
      return static_cast<std::uint8_t>(i + 1);
    }
  }
  return 0;
}
