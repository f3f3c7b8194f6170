// A program that makes two PDs by one line, destroys neither, and ends in the way that its argument says.
#include "common/device.hpp"

#include <infiniband/verbs.h>

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace {

int* volatile nowhere = nullptr;

// The program's own handler: it must be the one that is called.
void own_handler(int signal) {
  constexpr std::string_view text = "own handler\n";
  static_cast<void>(!write(STDOUT_FILENO, text.data(), text.size()));
  std::signal(signal, SIG_DFL);
  raise(signal);
}

[[noreturn]] void end(std::string_view way) {
  if (way == "own-handler") {
    std::signal(SIGSEGV, own_handler);
  }
  if (way == "thread") {
    std::thread([] { std::exit(3); }).join();
  } else if (way == "quick_exit") {
    std::quick_exit(3);
  } else if (way == "_exit") {
    _exit(3);
  } else if (way == "abort") {
    std::abort();
  } else if (way == "fault" || way == "own-handler") {
    *nowhere = 0;
  } else if (way == "sent") {
    raise(SIGSEGV);
  } else if (way == "heap") {
    void* volatile memory = std::malloc(24);
    static_cast<volatile std::size_t*>(memory)[-1] = ~std::size_t{0};  // NOLINT: free dies of it, holding its lock
    std::free(memory);
  }
  std::exit(3);
}

}  // namespace

int main(int count, char** words) {
  const lab::Device device = lab::open_device({});
  ibv_mr* mr = nullptr;
  ibv_pd* const pd = ibv_alloc_pd(device.context.get());
  char memory[64]{};
  if (pd == nullptr || (mr = ibv_reg_mr(pd, memory, sizeof memory, 0)) == nullptr) {
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    std::printf("%s\n", std::strerror(ibv_dealloc_pd(pd)));  // here: busy
  }
  std::fflush(stdout);
  end(count > 1 ? words[1] : "exit");
}
