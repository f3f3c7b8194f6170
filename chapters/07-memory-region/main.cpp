// 07-memory-region: how does a program let the adapter read and write its memory, and what does that cost?
//
// Verbs:   ibv_reg_mr, ibv_dereg_mr
// Run:     ./lab run 07
//          ./lab run 07 -s 1048576      a region of 1 MiB; needs a RLIMIT_MEMLOCK that allows it
// Expect:  the region and its keys; each set of access flags, granted or refused; memory that cannot be registered; the
//          pinned memory; the EBUSY of the protection domain; what registration costs against size.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Buffer = std::vector<std::byte>;

constexpr std::size_t page = 4096;

std::string status_line(const char* name) {  // of /proc/self/status, what stands behind the name
  std::ifstream status{"/proc/self/status"};
  std::string text;
  std::getline(status, text, '\0');
  text.erase(0, text.find(name) + std::strlen(name));
  return text.substr(0, text.find('\n'));
}

int pinned_kib() { return std::stoi(status_line("VmPin:")); }

// The limit of this very process. What a shell says about itself, or a file in /etc, may be something else.
std::string memlock_text() {
  rlimit limit{};
  lab::check_minus_one(getrlimit(RLIMIT_MEMLOCK, &limit), "getrlimit");
  constexpr int cap_ipc_lock = 14;  // capabilities(7): the bit that frees a process from the limit
  const bool exempt = (std::stoull(status_line("CapEff:"), nullptr, 16) >> cap_ipc_lock & 1U) != 0;
  return (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / 1024) + " KiB") +
         (exempt ? ", not applied (CAP_IPC_LOCK)" : ", applied");
}

// Prints the keys of a region, or why there is none.
void print_attempt(const std::string& attempt, ibv_mr* made) {
  const int reason = errno;
  const Mr mr{made};
  if (mr) {
    std::printf("  %-34s lkey 0x%08x rkey 0x%08x\n", attempt.c_str(), mr->lkey, mr->rkey);
  } else {
    std::printf("  %-34s %s\n", attempt.c_str(), lab::errno_text(reason).c_str());
  }
}

void access_flags(ibv_pd* pd, Buffer& buffer) {
  for (const unsigned access :
       {0U, 0U | IBV_ACCESS_LOCAL_WRITE, 0U | IBV_ACCESS_REMOTE_READ, 0U | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
        0U | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 0U | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
        0U | IBV_ACCESS_REMOTE_WRITE, 0U | IBV_ACCESS_REMOTE_ATOMIC}) {
    print_attempt(lab::access_text(access), ibv_reg_mr(pd, buffer.data(), buffer.size(), access));
  }
}

// Pages straight from the kernel, so that the program decides what may be done with them.
class Pages {
public:
  Pages(std::size_t size, int protection)
      : address_{mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)}, size_{size} {
    if (address_ == MAP_FAILED) {
      throw lab::VerbError("mmap", errno, std::to_string(size) + " bytes");
    }
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { keep(0); }

  void keep(std::size_t size) { 
  }
