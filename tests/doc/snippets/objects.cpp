// Making, owning and destroying objects; memory.
#include "docs/snippets/aligned-memory.cpp"
#include "docs/snippets/cq-size.cpp"
#include "docs/snippets/create-qp.cpp"
#include "docs/snippets/fork.cpp"
#include "docs/snippets/huge-pages.cpp"
#include "docs/snippets/memlock.cpp"
#include "docs/snippets/owned.cpp"
#include "docs/snippets/register-memory.cpp"
#include "docs/snippets/teardown.cpp"
#include "testing.hpp"

#include <sys/wait.h>

#include <fstream>

SNIPPET("owned") {
  Page memory;
  Objects made;
  made.context = decltype(made.context){lab::open_device({}).context.release()};
  ibv_context* const context = made.context.get();
  made.pd.reset(lab::check(ibv_alloc_pd(context), "ibv_alloc_pd"));
  made.mr.reset(lab::check(ibv_reg_mr(made.pd.get(), memory.bytes.data(), 4096, 0), "ibv_reg_mr"));
  made.channel.reset(lab::check(ibv_create_comp_channel(context), "ibv_create_comp_channel"));
  made.cq.reset(lab::check(ibv_create_cq(context, 8, nullptr, made.channel.get(), 0), "ibv_create_cq"));
  ibv_qp_cap cap{.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};
  made.qp.reset(create_rc_qp(made.pd.get(), made.cq.get(), made.cq.get(), cap));
  // All of them go here. One that cannot says so on standard error, and snippets.sh wants nothing there.
}

SNIPPET("teardown") {
  Page memory;
  Handles made;
  made.context = lab::open_device({}).context.release();
  made.pd = lab::check(ibv_alloc_pd(made.context), "ibv_alloc_pd");
  made.mr = lab::check(ibv_reg_mr(made.pd, memory.bytes.data(), 4096, 0), "ibv_reg_mr");
  made.channel = lab::check(ibv_create_comp_channel(made.context), "ibv_create_comp_channel");
  made.cq = lab::check(ibv_create_cq(made.context, 8, nullptr, made.channel, 0), "ibv_create_cq");
  ibv_srq_init_attr srq_attr{.attr = {.max_wr = 4, .max_sge = 1}};
  made.srq = lab::check(ibv_create_srq(made.pd, &srq_attr), "ibv_create_srq");
  ibv_qp_init_attr qp_attr{.send_cq = made.cq,
                           .recv_cq = made.cq,
                           .srq = made.srq,
                           .cap = {.max_send_wr = 4, .max_send_sge = 1},
                           .qp_type = IBV_QPT_RC};
  made.qp = lab::check(ibv_create_qp(made.pd, &qp_attr), "ibv_create_qp");
  tear_down(made);
  EXPECT(made.qp == nullptr && made.cq == nullptr && made.pd == nullptr && made.context == nullptr);
  tear_down(made);  // nothing left to do
  // What cannot be destroyed is kept.
  int object = 0;
  int* kept = &object;
  EXPECT(throws("busy", [&] {
    destroy<int>(
        kept, [](int*) { return EBUSY; }, "ibv_dealloc_pd");
  }));
  EXPECT(kept == &object);
}

SNIPPET("register-memory") {
  EXPECT(access_for(Use::send_from) == 0);
  EXPECT(access_for(Use::peer_reads) == IBV_ACCESS_REMOTE_READ);
  EXPECT((access_for(Use::receive_into) | access_for(Use::peer_reads)) ==
         (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
  const lab::Device device = lab::open_device({});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  Page memory;
  for (const Use use :
       {Use::send_from, Use::receive_into, Use::read_into, Use::peer_reads, Use::peer_writes, Use::peer_atomics}) {
    ibv_mr* const mr = register_memory(pd.get(), memory.bytes, access_for(use));
    EXPECT(mr->addr == memory.bytes.data() && mr->length == memory.bytes.size());
    EXPECT(ibv_dereg_mr(mr) == 0);
  }
}

SNIPPET("aligned-memory") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t size = page + 1;
  const Memory memory = whole_pages(size);
  EXPECT(size == 2 * page);
  EXPECT(reinterpret_cast<std::uintptr_t>(memory.get()) % page == 0);
  EXPECT(std::all_of(memory.get(), memory.get() + size, [](std::byte byte) { return byte == std::byte{0}; }));
}

namespace {

// The page size of the mapping at this address, in KiB, from /proc/self/smaps.
long page_size_at(const void* address) {
  std::ifstream maps{"/proc/self/smaps"};
  std::string word;
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      const auto wanted = reinterpret_cast<std::uintptr_t>(address);
      here = from <= wanted && wanted < to;
    }
    if (long size = 0; here && std::sscanf(line.c_str(), "KernelPageSize: %ld", &size) == 1) {
      return size;
    }
  }
  return 0;
}

long free_huge_pages() {
  std::ifstream file{"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"};
  long count = 0;
  file >> count;
  return count;
}

}  // namespace

SNIPPET("huge-pages") {
  const bool some = free_huge_pages() > 0;
  std::printf("huge pages: %s\n", some ? "some" : "none");
  const std::span<std::byte> memory = map_memory(5);
  EXPECT(memory.size() == 2U << 20U);
  EXPECT(page_size_at(memory.data()) == (some ? 2048 : 4));
  const lab::Device device = lab::open_device({});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  ibv_mr* const mr = register_memory(pd.get(), memory, access_for(Use::receive_into));
  memory.back() = std::byte{1};
  EXPECT(ibv_dereg_mr(mr) == 0);
  unmap(memory);
  EXPECT(page_size_at(memory.data()) == 0);  // it is gone
}

SNIPPET("memlock") {
  rlimit before{};
  EXPECT(getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  const rlimit lower{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  EXPECT(setrlimit(RLIMIT_MEMLOCK, &lower) == 0);
  EXPECT(raise_memlock_limit() == before.rlim_max);
  rlimit after{};
  EXPECT(getrlimit(RLIMIT_MEMLOCK, &after) == 0);
  EXPECT(after.rlim_cur == before.rlim_max);
}

SNIPPET("cq-size") {
  const lab::Device device = lab::open_device({});
  const std::array<ibv_qp_cap, 2> caps{ibv_qp_cap{.max_send_wr = 64, .max_recv_wr = 32},
                                       ibv_qp_cap{.max_send_wr = 100, .max_recv_wr = 4}};
  lab::Owned<ibv_cq, ibv_destroy_cq> cq{create_cq_for(device.context.get(), caps)};
  EXPECT(cq->cqe >= 200);
  EXPECT(throws("a CQ of 0 entries", [&] { create_cq_for(device.context.get(), {}); }));
  const ibv_qp_cap huge{.max_send_wr = ~0U, .max_recv_wr = ~0U};
  EXPECT(throws("a CQ of 8589934590 entries", [&] { create_cq_for(device.context.get(), {&huge, 1}); }));
}

SNIPPET("create-qp") {
  const lab::Device device = lab::open_device({});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  lab::Owned<ibv_cq, ibv_destroy_cq> cq{
      lab::check(ibv_create_cq(device.context.get(), 64, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_cap cap{.max_send_wr = 20, .max_recv_wr = 10, .max_send_sge = 3, .max_recv_sge = 2, .max_inline_data = 50};
  lab::Owned<ibv_qp, ibv_destroy_qp> qp{create_rc_qp(pd.get(), cq.get(), cq.get(), cap)};
  EXPECT(cap.max_send_wr >= 20 && cap.max_recv_wr >= 10 && cap.max_send_sge >= 3 && cap.max_inline_data >= 50);
  EXPECT(qp->qp_type == IBV_QPT_RC && lab::state_of(qp.get()) == IBV_QPS_RESET);
}

SNIPPET("fork") {
  prepare_for_fork();
  EXPECT(ibv_is_fork_initialized() != IBV_FORK_DISABLED);
  Pair pair;
  pair.connect();
  pair.b.put(0, "before");
  Pair::receive(pair.b, 1, 0, 64);
  pair.a.put(0, "the parent's message");
  const pid_t child = fork();
  EXPECT(child != -1);
  if (child == 0) {
    pair.b.put(0, "child");  // its own copy of the memory; it leaves the verbs objects alone
    _exit(pair.b.holds(0, "childe") ? 3 : 4);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);  // the child had "before" there
  EXPECT(pair.b.holds(0, "before"));
  // And the device still writes into the parent's memory.
  Pair::send(pair.a, 2, 0, 20);
  EXPECT(pair.a.completed(2) && pair.b.completed(1));
  EXPECT(pair.b.holds(0, "the parent's message"));
}
