// A signal comes while a verb waits, and its handler leaves the verb: by exit, or by a jump. After the jump the program
// goes on, and leaves one PD behind, which must be found.
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"

#include <infiniband/verbs.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

sigjmp_buf before;

void jump(int /*signal*/) { siglongjmp(before, 1); }
void leave(int /*signal*/) { std::exit(3); }  // NOLINT: what is tested

}  // namespace

int main(int count, char** words) {
  const lab::Device device = lab::open_device({});
  const lab::Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel{
      lab::check(ibv_create_comp_channel(device.context.get()), "ibv_create_comp_channel")};
  std::signal(SIGALRM, count > 1 && std::string_view{words[1]} == "exit" ? leave : jump);
  if (sigsetjmp(before, 1) == 0) {
    alarm(1);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    ibv_get_cq_event(channel.get(), &cq, &context);
  }
  std::printf("after the jump\n");
  return ibv_alloc_pd(device.context.get()) == nullptr ? 1 : 0;  // here: leak
}
