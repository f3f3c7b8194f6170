// How do I open a device by its name?

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

// The device of this name, open; nullptr when there is none. ibv_close_device gives it back.
ibv_context* open_device(std::string_view name) {
  int count = 0;
  const std::unique_ptr<ibv_device* [], decltype(&ibv_free_device_list)> list {
    ibv_get_device_list(&count), &ibv_free_device_list
  };
  if (!list) {
    throw std::system_error(errno, std::generic_category(), "ibv_get_device_list");
  }
  for (ibv_device* const device : std::span{list.get(), static_cast<std::size_t>(count)}) {
    if (name == ibv_get_device_name(device)) {
      ibv_context* const context = ibv_open_device(device);
      if (context == nullptr) {
        throw std::system_error(errno, std::generic_category(), "ibv_open_device");
      }
      return context;  // the list goes here, after the device was opened
    }
  }
  return nullptr;
}
