// An address handle with an index at which the port has no GID: there it is "::".
// says: the GID table is empty at sgid_index 9
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
  ibv_ah_attr attr{.is_global = 1, .port_num = path.port};
  attr.grh = {.dgid = path.source->gid, .sgid_index = 9, .hop_limit = 64};
  ibv_ah* const ah = ibv_create_ah(pd.get(), &attr);  // here: ah-refused
  std::printf("ibv_create_ah: %s\n", ah != nullptr ? "done" : std::strerror(errno));
  return ah != nullptr && ibv_destroy_ah(ah) == 0 ? 0 : 1;
}
