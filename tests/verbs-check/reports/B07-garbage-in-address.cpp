// An address handle from attributes on memory that was used before: only the GID is set.
// says: a field that was never set: zero the structure before filling it
#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  const lab::Device device = lab::open_device({});
  const lab::Path path = lab::make_path(device, {});
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  ibv_ah_attr attr;
  std::memset(&attr, 0xa5, sizeof attr);  // whatever was there before
  attr.is_global = 1;
  attr.grh = {.dgid = path.source->gid, .sgid_index = static_cast<std::uint8_t>(path.source->gid_index)};
  ibv_ah* const ah = ibv_create_ah(pd.get(), &attr);  // here: ah-refused
  std::printf("ibv_create_ah: %s\n", ah != nullptr ? "done" : std::strerror(errno));
  return ah != nullptr && ibv_destroy_ah(ah) == 0 ? 0 : 1;
}
