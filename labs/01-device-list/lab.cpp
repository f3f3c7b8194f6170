// Lab 01: the device that a configuration names. The task is in README.md.
//
//     ./lab check 01                 builds and checks this file
//     ./lab hint 01 1                a hint for step 1

#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <endian.h>
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

using Devices = std::span<ibv_device* const>;

// The node GUID as ibv_devinfo prints it: four groups of four hexadecimal digits, "5054:00ff:fe00:0201".
std::string guid_text(ibv_device* device) {
  // step 2
  static_cast<void>(device);
  return "";
  // end of step 2
}

// The device that the first word names that names one at all, be it by its name or by its node GUID. When no word does
// that it is an error, which says what there is.
ibv_device* choose(Devices devices, const std::vector<std::string>& words) {
  // step 3
  static_cast<void>(devices);
  static_cast<void>(words);
  throw lab::Error{"step 3 chooses no device yet"};
  // end of step 3
}

// Opens the device, prints "opened NAME", and closes it.
void use(ibv_device* device) {
  // step 4
  static_cast<void>(device);
  // end of step 4
}

void play(const lab::Options& options) {
  // The list of the devices. It has to live until the end of this function, and to be freed on every way out.
  // step 1
  const Devices devices;
  // end of step 1
  if (!options.words.empty()) {
    use(choose(devices, options.words));
    return;
  }
  for (ibv_device* const device : devices) {
    std::printf("%s %s\n", ibv_get_device_name(device), guid_text(device).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 01: opens the device that a configuration names", {lab::Opt::words}, play);
}
