// How do I read the GID table?

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

// The entries in use, of all ports of the device; each says its port, index, type and network interface.
std::vector<ibv_gid_entry> gid_table(ibv_context* context) {
  ibv_device_attr device{};
  if (const int error = ibv_query_device(context, &device); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_query_device");
  }
  std::size_t size = 0;
  for (unsigned port = 1; port <= device.phys_port_cnt; ++port) {
    ibv_port_attr attr{};
    if (const int error = ibv_query_port(context, static_cast<std::uint8_t>(port), &attr); error != 0) {
      throw std::system_error(error, std::generic_category(), "ibv_query_port");
    }
    size += static_cast<std::size_t>(attr.gid_tbl_len);
  }
  // The call passes the length of the array on in 16 bits: a longer one is EINVAL.
  constexpr std::size_t most = 0xffffU / sizeof(ibv_gid_entry);  // 2047
  std::vector<ibv_gid_entry> table(std::min(size, most));
  const auto used = ibv_query_gid_table(context, table.data(), table.size(), 0);
  if (used < 0) {  // a convention of its own: the errno value, negative
    throw std::system_error(static_cast<int>(-used), std::generic_category(), "ibv_query_gid_table");
  }
  table.resize(static_cast<std::size_t>(used));
  return table;
}
