// Makes and destroys objects, and posts, polls and is found out, again and again. Prints by how many KiB it has grown
// after the first tenth.
#include "tests/verbs-check/programs/loop.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace {

long resident_kib() {
  std::ifstream statm{"/proc/self/statm"};
  long all = 0;
  long resident = 0;
  statm >> all >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

void round(Loop& loop) {
  const Loop::Mr mr{lab::check(ibv_reg_mr(loop.pd.get(), loop.memory.data(), 1, 0), "ibv_reg_mr")};
  ibv_dealloc_pd(loop.pd.get());  // here: busy
  loop.post_receive();
  ibv_sge where{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
  for (int completions = 0; completions < 2; ++completions) {
    static_cast<void>(lab::wait_completion(loop.cq.get(), std::chrono::seconds{30}, "a completion"));
  }
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 1000;
  Loop loop;
  loop.connect();
  long begin = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 10) {
      begin = resident_kib();
    }
    round(loop);
  }
  std::printf("grown by %ld KiB\n", resident_kib() - begin);
}
