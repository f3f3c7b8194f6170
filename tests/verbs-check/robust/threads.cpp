// Four threads, each with a QP of its own that is connected to itself, post and poll at once, and make and destroy
// objects between. Prints how many messages came.
#include "tests/verbs-check/programs/loop.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<long> messages{0};

void work(int rounds) {
  Loop loop;
  loop.connect();
  ibv_sge where{.addr = loop.outgoing(), .length = loop.half, .lkey = loop.mr->lkey};
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  for (int i = 0; i < rounds; ++i) {
    loop.post_receive();
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(loop.qp, &request, &bad), "ibv_post_send");
    for (int completions = 0; completions < 2; ++completions) {
      const ibv_wc completion = lab::wait_completion(loop.cq.get(), std::chrono::seconds{30}, "a completion");
      messages += completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_RECV ? 1 : 0;
    }
    if (i % 16 == 0) {
      const Loop::Mr other{lab::check(ibv_reg_mr(loop.pd.get(), loop.memory.data(), 1, 0), "ibv_reg_mr")};
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 100;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(work, rounds);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%ld messages\n", messages.load());
}
