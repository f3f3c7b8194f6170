// 07-memory-region: how does a program let the adapter read and write its memory, and what does that cost?
//
// Verbs:   ibv_reg_mr, ibv_dereg_mr
// Run:     ./lab run 07                 a region of 4096 bytes
//          ./lab run 07 -s 1048576      a region of 1 MiB; RLIMIT_MEMLOCK must allow it
// Expect:  the region and its keys; each set of access flags, granted or refused; memory that cannot be registered;
//          what stays pinned, and until when; EBUSY from the protection domain; the cost against the size.

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;

// What the kernel says about this process in one line of /proc/self/status.
std::string status_of(std::string_view name) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) {
      return line.substr(name.size());
    }
  }
  throw lab::Error("/proc/self/status has no line " + std::string{name});
}

int pinned_kib() { return std::stoi(status_of("VmPin:")); }

// The limit that holds for this very process, in bytes. A shell's `ulimit -l`, or a file in /etc, may say something
// else.
rlim_t memlock_limit() {
  rlimit limit{};
  lab::check_minus_one(getrlimit(RLIMIT_MEMLOCK, &limit), "getrlimit");
  return limit.rlim_cur;
}

bool is_exempt() {
  constexpr unsigned cap_ipc_lock = 14;  // the bit of the capability that frees a process from this limit
  return (std::stoull(status_of("CapEff:"), nullptr, 16) >> cap_ipc_lock & 1U) != 0;
}

std::string limit_text() {
  const rlim_t limit = memlock_limit();
  return "RLIMIT_MEMLOCK " + (limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit / 1024) + " KiB") +
         (is_exempt() ? " (does not bind this process: it has CAP_IPC_LOCK)" : "");
}

// Whether the limit, and nothing else, stands against this many bytes more.
bool is_above_limit(std::size_t size) {
  return !is_exempt() && static_cast<std::size_t>(pinned_kib()) * 1024 + size > memlock_limit();
}

// Pages straight from mmap(2), with the protection that the program wants, unmapped by their owner.
struct Unmap {
  std::size_t size;
  void operator()(void* address) const noexcept { munmap(address, size); }
};
using Pages = std::unique_ptr<void, Unmap>;

Pages map_pages(std::size_t size, int protection) {
  void* const address = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    throw lab::VerbError("mmap", errno, std::to_string(size) + " bytes");
  }
  return Pages{address, Unmap{size}};
}

// Tries a registration, and prints the two keys or the reason why there is no region: the one refusal to expect.
void attempt(const char* title, ibv_pd* pd, void* address, std::size_t length, unsigned access, int refusal) {
  const Mr mr{ibv_reg_mr(pd, address, length, access)};
  const int reason = lab::check_refusal(mr ? 0 : errno, {refusal}, "ibv_reg_mr", lab::access_text(access));
  std::printf("  %-13s %-27s ", title, lab::access_text(access).c_str());
  if (mr) {
    std::printf("lkey 0x%08x, rkey 0x%08x\n", mr->lkey, mr->rkey);
  } else {
    std::printf("%s\n", lab::errno_text(reason).c_str());
  }
}

void attempt_access_flags(ibv_pd* pd, std::vector<std::byte>& buffer) {
  constexpr std::array<unsigned, 7> flags{0,
                                          IBV_ACCESS_LOCAL_WRITE,
                                          IBV_ACCESS_REMOTE_READ,
                                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
                                          IBV_ACCESS_REMOTE_WRITE,
                                          IBV_ACCESS_REMOTE_ATOMIC};
  for (const unsigned access : flags) {
    attempt("the buffer", pd, buffer.data(), buffer.size(), access, EINVAL);
  }
}

void attempt_other_memory(ibv_pd* pd) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  Pages pages = map_pages(2 * page, PROT_READ);
  attempt("read-only", pd, pages.get(), page, IBV_ACCESS_LOCAL_WRITE, EFAULT);
  attempt("read-only", pd, pages.get(), page, 0, EFAULT);

  // Give the second page back: what follows is a range that begins in mapped memory and ends outside.
  munmap(static_cast<std::byte*>(pages.get()) + page, page);
  pages.get_deleter().size = page;
  attempt("half unmapped", pd, pages.get(), 2 * page, 0, EFAULT);
}

// Frees the memory before its region. No verb complains, and the program does not touch the memory again.
void free_too_early(ibv_pd* pd) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  Pages pages = map_pages(size, PROT_READ | PROT_WRITE);
  const int before = pinned_kib();
  Mr mr{lab::check(ibv_reg_mr(pd, pages.get(), size, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr", limit_text())};
  const int registered = pinned_kib() - before;
  pages.reset();
  const int unmapped = pinned_kib() - before;
  mr.reset();
  std::printf("pinned: %d KiB by ibv_reg_mr, %d KiB after munmap, %d KiB after ibv_dereg_mr\n", registered, unmapped,
              pinned_kib() - before);
}

template <class Work>
double microseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// A registration of memory that was never touched, its end, and a registration of the same memory again.
void print_cost(ibv_pd* pd, std::size_t size, int rounds) {
  std::printf("  %6zu KiB ", size / 1024);
  std::vector<double> first;
  std::vector<double> again;
  std::vector<double> dereg;
  try {
    for (int round = 0; round < rounds; ++round) {
      const Pages pages = map_pages(size, PROT_READ | PROT_WRITE);
      Mr mr;
      const auto reg = [&] {
        mr.reset(lab::check(ibv_reg_mr(pd, pages.get(), size, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr"));
      };
      first.push_back(microseconds(reg));
      dereg.push_back(microseconds([&] { mr.reset(); }));
      again.push_back(microseconds(reg));
    }
    std::printf("%9.1f %9.1f %12.1f\n", lab::median(first), lab::median(again), lab::median(dereg));
  } catch (const lab::VerbError& error) {
    if (error.code() != ENOMEM || !is_above_limit(size)) {
      throw;
    }
    // A size above the limit of this process is no failure of the program.
    std::printf("%s\n", lab::errno_text(error.code()).c_str());
  }
}

void register_memory(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const std::string limit = limit_text();
  std::printf("device %s, %s\n", device.name(), limit.c_str());

  // The memory before its region: what is declared first is destroyed last.
  std::vector<std::byte> buffer(options.size);
  Pd pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  Mr mr{lab::check(ibv_reg_mr(pd.get(), buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr",
                   std::to_string(buffer.size()) + " bytes with " + limit)};
  std::printf("region of %zu bytes, %d KiB pinned\naccess:\n", mr->length, pinned_kib());

  attempt_access_flags(pd.get(), buffer);
  attempt_other_memory(pd.get());
  free_too_early(pd.get());

  std::puts("cost, median in us:\n        size     first     again ibv_dereg_mr");
  print_cost(pd.get(), std::size_t{4} << 10U, 101);
  print_cost(pd.get(), std::size_t{64} << 10U, 101);
  print_cost(pd.get(), std::size_t{1} << 20U, 25);
  print_cost(pd.get(), std::size_t{16} << 20U, 5);

  const int answer = lab::check_refusal(ibv_dealloc_pd(pd.get()), {EBUSY}, "ibv_dealloc_pd");
  std::printf("ibv_dealloc_pd, the region alive: %s\n", answer == 0 ? "0" : lab::errno_text(answer).c_str());
  if (answer == 0) {
    static_cast<void>(pd.release());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "07-memory-region: registers memory, and shows what may fail and what it costs",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::size}, register_memory);
}
