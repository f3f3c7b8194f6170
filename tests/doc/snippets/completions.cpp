// Polling, sleeping and measuring.
#include "docs/snippets/completion-event.cpp"
#include "docs/snippets/event-timeout.cpp"
#include "docs/snippets/latency.cpp"
#include "docs/snippets/poll-batch.cpp"
#include "docs/snippets/poll-deadline.cpp"
#include "docs/snippets/poller-thread.cpp"
#include "testing.hpp"

#include <atomic>
#include <thread>

namespace {

// `count` messages from a to b, with wr_id 0, 1, ... on both sides, and all of them done.
void pass(Pair& pair, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Pair::receive(pair.b, i, 64 * i, 64);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Pair::send(pair.a, i, 0, 8);
    EXPECT(pair.a.completed(i));
  }
}

}  // namespace

SNIPPET("poll-deadline") {
  Pair pair;
  pair.connect();
  const auto start = std::chrono::steady_clock::now();
  EXPECT(!poll_until(pair.b.cq.get(), start + std::chrono::milliseconds{50}));
  EXPECT(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds{50});
  pass(pair, 1);
  const auto completion = poll_until(pair.b.cq.get(), in(patience));
  EXPECT(completion && completion->status == IBV_WC_SUCCESS && completion->byte_len == 8);
}

SNIPPET("poll-batch") {
  Pair pair;
  pair.connect();
  EXPECT(poll_all(pair.b.cq.get(), [](const ibv_wc&) {}) == 0);
  pass(pair, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  std::vector<std::uint64_t> seen;
  const std::size_t total = poll_all(pair.b.cq.get(), [&](const ibv_wc& completion) {
    EXPECT(completion.status == IBV_WC_SUCCESS);
    seen.push_back(completion.wr_id);
  });
  EXPECT(total == 20 && seen.size() == 20);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT(seen.at(i) == i);
  }
}

SNIPPET("completion-event") {
  Pair pair;
  pair.connect();
  std::vector<std::uint64_t> seen;
  const auto handle = [&](const ibv_wc& completion) {
    EXPECT(completion.status == IBV_WC_SUCCESS);
    seen.push_back(completion.wr_id);
  };
  // What came before the CQ was armed gives no event: it is handed out at once.
  pass(pair, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  arm_and_drain(pair.b.cq.get(), handle);
  EXPECT(seen.size() == 2);
  // And then again and again, while another thread sends at its own pace.
  seen.clear();
  constexpr std::uint64_t count = 30;
  std::string failure;
  for (std::uint64_t i = 0; i < count; ++i) {
    Pair::receive(pair.b, i, 64 * i, 64);
  }
  std::jthread sender{[&] {
    try {
      for (std::uint64_t i = 0; i < count; i += 3) {  // three at a time: one event may stand for several
        for (std::uint64_t k = i; k < i + 3; ++k) {
          Pair::send(pair.a, k, 0, 8);
        }
        for (std::uint64_t k = i; k < i + 3; ++k) {
          EXPECT(pair.a.completed(k));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{i % 4});
      }
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }};
  bool lost = false;
  while (seen.size() < count && !lost) {
    if (wait_readable(pair.b.channel.get(), in(patience))) {
      wait_and_drain(pair.b.channel.get(), handle);
    } else {
      lost = true;
    }
  }
  sender.join();
  EXPECT(!lost && failure.empty());
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT(seen.at(i) == i);
  }
}

SNIPPET("event-timeout") {
  Pair pair;
  pair.connect();
  arm_and_drain(pair.b.cq.get(), [](const ibv_wc&) {});
  const auto start = std::chrono::steady_clock::now();
  EXPECT(!wait_readable(pair.b.channel.get(), start + std::chrono::milliseconds{50}));
  EXPECT(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds{50});
  EXPECT(!wait_readable(pair.b.channel.get(), start));  // a deadline that has passed
  pass(pair, 1);
  EXPECT(wait_readable(pair.b.channel.get(), in(patience)));
  int count = 0;
  wait_and_drain(pair.b.channel.get(), [&](const ibv_wc&) { ++count; });
  EXPECT(count == 1);
}

SNIPPET("latency") {
  using namespace std::chrono_literals;
  int calls = 0;
  // 100 calls, of which the last two are slow.
  const Latency known = measure(
      [&] {
        if (++calls > 103) {
          std::this_thread::sleep_for(30ms);
        }
      },
      100, 5);
  EXPECT(calls == 105);
  EXPECT(known.median < 10ms && known.p99 >= 30ms);
  Pair pair;
  pair.connect();
  const Latency real = measure(
      [&] {
        Pair::receive(pair.b, 1, 0, 8);
        Pair::send(pair.a, 2, 0, 8);
        EXPECT(pair.b.completed(1) && pair.a.completed(2));
        Pair::receive(pair.a, 3, 0, 8);
        Pair::send(pair.b, 4, 0, 8);
        EXPECT(pair.a.completed(3) && pair.b.completed(4));
      },
      20, 1);
  EXPECT(real.median > 0ns && real.p99 >= real.median);
}

SNIPPET("poller-thread") {
  Pair pair;
  pair.connect();
  std::atomic<std::uint64_t> seen{0};
  {
    const Poller poller{pair.b.cq.get(), [&](const ibv_wc& completion) {
                          if (completion.status == IBV_WC_SUCCESS) {
                            ++seen;
                          }
                        }};
    pass(pair, 10);
    for (const auto end = in(patience); seen < 10 && std::chrono::steady_clock::now() < end;) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    EXPECT(seen == 10);
  }
  pass(pair, 1);  // the thread is gone, and leaves it
  EXPECT(pair.b.completed(0));
}
