// Preloaded into a submission behind verbs-check, which sees what the submission sees: the device behaves as it may,
// but seldom does while somebody looks. LAB_WORLD says how, in words with commas between:
//
//   silent     no completion ever comes: the peer has stopped, and nobody says so
//   no-port    no port is active
//   scribbles  memory belongs to the device from the post of a receive on, and it writes there at once
//   owns       memory that is registered belongs to the device: who frees it ends with 98
//   dribbles   a poll brings one completion at most, and the one after it nothing
#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

struct World {
  bool silent = false;
  bool no_port = false;
  bool scribbles = false;
  bool dribbles = false;
  bool owns = false;
};

World world;

// What the device's driver has put there. One device is open at a time.
decltype(ibv_context_ops::poll_cq) real_poll_cq;
decltype(ibv_context_ops::post_recv) real_post_recv;
decltype(verbs_context::query_port) real_query_port;

// The submission is not to know in which world it is.
__attribute__((constructor)) void begin() {
  const char* const setting = std::getenv("LAB_WORLD");
  const std::string_view words = setting == nullptr ? "" : setting;
  const auto has = [&](std::string_view word) { return words.find(word) != std::string_view::npos; };
  world = {has("silent"), has("no-port"), has("scribbles"), has("dribbles"), has("owns")};
  unsetenv("LAB_WORLD");
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  static bool had_one = false;
  if (world.silent || (world.dribbles && had_one)) {
    had_one = false;
    return 0;
  }
  const int count = real_poll_cq(cq, world.dribbles && entries > 1 ? 1 : entries, completions);
  had_one = count > 0;
  return count;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  // The first byte is enough to spoil a message; more might not be the submission's own.
  constexpr char never_sent = '\xa5';
  constexpr std::uintptr_t first_page = 4096;
  for (const ibv_recv_wr* request = requests; world.scribbles && request != nullptr; request = request->next) {
    const ibv_sge* const where = request->num_sge > 0 ? request->sg_list : nullptr;
    if (where != nullptr && where->length > 0 && where->addr >= first_page) {
      *reinterpret_cast<volatile char*>(where->addr) = never_sent;
    }
  }
  return real_post_recv(qp, requests, bad);
}

int query_port(ibv_context* context, std::uint8_t number, ibv_port_attr* port, std::size_t size) {
  const int failed = real_query_port(context, number, port, size);
  if (failed == 0) {
    port->state = IBV_PORT_DOWN;
  }
  return failed;
}

// What is registered.
struct Region {
  const ibv_mr* mr = nullptr;
  std::uintptr_t begin = 0;
  std::size_t length = 0;
};
std::array<Region, 64> regions;

void look_at_free(void* memory) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (const Region& region : regions) {
    if (region.mr != nullptr && region.begin < begin + malloc_usable_size(memory) &&
        begin < region.begin + region.length) {
      constexpr std::string_view text = "the memory of a region was freed before ibv_dereg_mr\n";
      static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
      constexpr int freed = 98;
      _exit(freed);
    }
  }
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// The library has it under this name, and dlsym would come here again.
extern "C" void __libc_free(void*);  // NOLINT

EXPORTED void free(void* memory) noexcept {
  if (world.owns && memory != nullptr) {
    look_at_free(memory);
  }
  __libc_free(memory);
}

#undef ibv_reg_mr
EXPORTED ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  ibv_mr* const mr = next<ibv_mr*(ibv_pd*, void*, std::size_t, int)>("ibv_reg_mr")(pd, address, length, access);
  for (Region& region : regions) {
    if (mr != nullptr && region.mr == nullptr) {
      region = {mr, reinterpret_cast<std::uintptr_t>(address), length};
      break;
    }
  }
  return mr;
}

EXPORTED int ibv_dereg_mr(ibv_mr* mr) {
  for (Region& region : regions) {
    if (region.mr == mr) {
      region.mr = nullptr;
    }
  }
  return next<int(ibv_mr*)>("ibv_dereg_mr")(mr);
}

EXPORTED ibv_context* ibv_open_device(ibv_device* device) {
  ibv_context* const context = next<ibv_context*(ibv_device*)>("ibv_open_device")(device);
  if (context == nullptr) {
    return nullptr;
  }
  real_poll_cq = context->ops.poll_cq;
  real_post_recv = context->ops.post_recv;
  context->ops.poll_cq = poll_cq;
  context->ops.post_recv = post_recv;
  if (verbs_context* const more = verbs_get_ctx(context); world.no_port && more != nullptr) {
    real_query_port = more->query_port;
    more->query_port = query_port;
  }
  return context;
}
