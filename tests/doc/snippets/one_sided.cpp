// RDMA writes, reads and atomics.
#include "docs/snippets/compare-and-swap.cpp"
#include "docs/snippets/fetch-and-add.cpp"
#include "docs/snippets/rdma-read.cpp"
#include "docs/snippets/rdma-write.cpp"
#include "docs/snippets/write-with-immediate.cpp"
#include "testing.hpp"

SNIPPET("rdma-write") {
  Pair pair;
  pair.connect();
  Pair::receive(pair.b, 1, 2000, 8);  // it is not used up
  pair.a.put(0, "written");
  post_write(pair.a.qp, 51, pair.a.piece(0, 7), pair.b.address(300), pair.b.mr->rkey);
  EXPECT(pair.a.completed(51));
  EXPECT(pair.b.holds(300, "written"));
  ibv_wc completion{};
  EXPECT(ibv_poll_cq(pair.b.cq.get(), 1, &completion) == 0);
}

SNIPPET("write-with-immediate") {
  Pair pair;
  pair.connect();
  post_empty_receive(pair.b.qp, 52);
  pair.a.put(0, "written and told");
  post_write_with_number(pair.a.qp, 53, pair.a.piece(0, 16), pair.b.address(400), pair.b.mr->rkey, 0x01020304);
  EXPECT(pair.a.completed(53));
  ibv_wc completion = pair.b.wait();
  EXPECT(completion.wr_id == 52 && number_of(completion) == 0x01020304U && completion.byte_len == 16);
  EXPECT(pair.b.holds(400, "written and told"));
  completion.status = IBV_WC_WR_FLUSH_ERR;
  EXPECT(!number_of(completion));
}

SNIPPET("rdma-read") {
  Pair pair;
  pair.connect();
  pair.b.put(500, "fetched");
  post_read(pair.a.qp, 54, pair.a.piece(0, 7), pair.b.address(500), pair.b.mr->rkey);
  EXPECT(pair.a.completed(54));
  EXPECT(pair.a.holds(0, "fetched"));
}

SNIPPET("fetch-and-add") {
  Pair pair;
  pair.connect();
  std::uint64_t number = 0x00000001ffffffff;
  std::memcpy(pair.b.at(8), &number, sizeof number);
  auto* const before = reinterpret_cast<std::uint64_t*>(pair.a.at(0));
  post_fetch_and_add(pair.a.qp, 55, before, pair.a.mr.get(), pair.b.address(8), pair.b.mr->rkey, 2);
  EXPECT(pair.a.completed(55));
  EXPECT(*before == 0x00000001ffffffff);
  std::memcpy(&number, pair.b.at(8), sizeof number);
  EXPECT(number == 0x0000000200000001);  // host byte order: the carry went where it belongs
  EXPECT(throws("multiple of 8",
                [&] { post_fetch_and_add(pair.a.qp, 1, before, pair.a.mr.get(), pair.b.address(4), 0, 1); }));
}

SNIPPET("compare-and-swap") {
  Pair pair;
  pair.connect();
  const auto number = [&](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, pair.b.at(offset), sizeof value);
    return value;
  };
  auto* const before = reinterpret_cast<std::uint64_t*>(pair.a.at(0));
  const std::uint64_t start = 0x0102030405060708;
  std::memcpy(pair.b.at(16), &start, sizeof start);
  const auto swap = [&](std::uint64_t expected, std::uint64_t desired) {
    post_compare_and_swap(pair.a.qp, 56, before, pair.a.mr.get(), pair.b.address(16), pair.b.mr->rkey, expected,
                          desired);
    EXPECT(pair.a.completed(56));
  };
  swap(5, 6);
  EXPECT(*before == start && number(16) == start);  // not as expected: nothing has changed
  swap(start, 6);
  EXPECT(*before == start && number(16) == 6);
  EXPECT(throws("multiple of 8",
                [&] { post_compare_and_swap(pair.a.qp, 1, before, pair.a.mr.get(), pair.b.address(1), 0, 1, 2); }));
}
