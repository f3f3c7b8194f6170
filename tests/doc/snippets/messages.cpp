// Sends and receives, connected and not.
#include "docs/snippets/async-event.cpp"
#include "docs/snippets/credits.cpp"
#include "docs/snippets/inline-send.cpp"
#include "docs/snippets/post-list.cpp"
#include "docs/snippets/post-receive.cpp"
#include "docs/snippets/post-send.cpp"
#include "docs/snippets/scatter-gather.cpp"
#include "docs/snippets/signal-every.cpp"
#include "docs/snippets/srq.cpp"
#include "docs/snippets/ud-qp.cpp"
#include "docs/snippets/ud-receive.cpp"
#include "docs/snippets/ud-send.cpp"
#include "testing.hpp"

SNIPPET("post-receive") {
  Pair pair;
  pair.connect();
  post_receive(pair.b.qp, 11, pair.b.at(100), 32, pair.b.mr.get());
  pair.a.put(0, "into its place");
  Pair::send(pair.a, 1, 0, 14);
  EXPECT(pair.a.completed(1));
  const ibv_wc completion = pair.b.wait();
  EXPECT(completion.status == IBV_WC_SUCCESS && completion.wr_id == 11 && completion.byte_len == 14);
  EXPECT(pair.b.holds(100, "into its place"));
}

SNIPPET("post-send") {
  Pair pair;
  pair.connect();
  Pair::receive(pair.b, 1, 0, 64);
  pair.a.put(200, "from its place");
  post_send(pair.a.qp, 12, pair.a.at(200), 14, pair.a.mr.get());
  EXPECT(pair.a.completed(12) && pair.b.completed(1));
  EXPECT(pair.b.holds(0, "from its place"));
}

SNIPPET("inline-send") {
  Pair pair;
  pair.connect({.retry_cnt = 7, .rnr_retry = 7});
  std::array<std::byte, 5> bytes{std::byte{'e'}, std::byte{'a'}, std::byte{'r'}, std::byte{'l'}, std::byte{'y'}};
  send_inline(pair.a.qp, 13, bytes);
  bytes.fill(std::byte{'x'});  // it is tried again until there is a receive, and arrives as it was
  Pair::receive(pair.b, 1, 0, 64);
  EXPECT(pair.a.completed(13) && pair.b.completed(1));
  EXPECT(pair.b.holds(0, "early"));
}

SNIPPET("signal-every") {
  Pair pair;
  pair.connect();
  Sends sends{pair.a.qp, 8, 4};
  constexpr std::size_t count = 50;
  for (std::size_t i = 0; i < count; ++i) {
    *pair.a.at(i) = static_cast<std::byte>(i + 1);
    ibv_sge piece = pair.a.piece(i, 1);
    const ibv_send_wr request{.sg_list = &piece,
                              .num_sge = 1,
                              .opcode = IBV_WR_RDMA_WRITE,
                              .send_flags = IBV_SEND_SIGNALED,  // it decides that by itself
                              .wr = {.rdma = {.remote_addr = pair.b.address(i), .rkey = pair.b.mr->rkey}}};
    sends.post(request, i + 1 == count, in(patience));
  }
  sends.finish(in(patience));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT(*pair.b.at(i) == static_cast<std::byte>(i + 1));
  }
  ibv_wc completion{};
  EXPECT(ibv_poll_cq(pair.a.cq.get(), 1, &completion) == 0);
  // One in four: after five more there is one completion, of the fourth of them at the latest.
  ibv_sge piece = pair.a.piece(0, 1);
  const ibv_send_wr request{.sg_list = &piece,
                            .num_sge = 1,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .wr = {.rdma = {.remote_addr = pair.b.address(0), .rkey = pair.b.mr->rkey}}};
  for (int i = 0; i < 5; ++i) {
    sends.post(request, false, in(patience));
  }
  EXPECT(pair.a.completed(52));
  sends.post(request, true, in(patience));
  EXPECT(pair.a.completed(56));
  EXPECT(ibv_poll_cq(pair.a.cq.get(), 1, &completion) == 0);
}

SNIPPET("scatter-gather") {
  Pair pair;
  pair.connect();
  pair.a.put(0, "header ");
  pair.a.put(500, "and payload");
  std::array<ibv_sge, 2> into{pair.b.piece(0, 10), pair.b.piece(1000, 20)};
  receive_into(pair.b.qp, 1, into);
  std::array<ibv_sge, 2> from{pair.a.piece(0, 7), pair.a.piece(500, 11)};
  send_from(pair.a.qp, 2, from);
  EXPECT(pair.a.completed(2));
  const ibv_wc completion = pair.b.wait();
  EXPECT(completion.status == IBV_WC_SUCCESS && completion.byte_len == 18);
  EXPECT(pair.b.holds(0, "header and") && pair.b.holds(1000, " payload"));
  // Nothing into nothing.
  receive_into(pair.b.qp, 3, {});
  send_from(pair.a.qp, 4, {});
  EXPECT(pair.a.completed(4) && pair.b.completed(3));
}

SNIPPET("post-list") {
  Pair pair;
  pair.connect();
  std::array<ibv_sge, 3> pieces{pair.b.piece(0, 64), pair.b.piece(64, 64), pair.b.piece(128, 64)};
  std::vector<ibv_recv_wr> requests;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    requests.push_back({.wr_id = 30 + i, .sg_list = &pieces.at(i), .num_sge = 1});
  }
  const Posted all = post_all(pair.b.qp, requests);
  EXPECT(all.count == 3 && all.error == 0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::string text = "message " + std::to_string(i);
    pair.a.put(0, text);
    Pair::send(pair.a, i, 0, text.size());
    EXPECT(pair.a.completed(i) && pair.b.completed(30 + i));
    EXPECT(pair.b.holds(64 * i, text));
  }
  EXPECT(post_all(pair.b.qp, {}).count == 0);
  // The second of three is refused: more pieces than the QP takes.
  std::vector<ibv_sge> many(100, pair.b.piece(192, 1));
  requests[1].sg_list = many.data();
  requests[1].num_sge = static_cast<int>(many.size());
  const Posted some = post_all(pair.b.qp, requests);
  EXPECT(some.count == 1 && some.error != 0);
}

SNIPPET("credits") {
  Pair pair;
  pair.connect({.rnr_retry = 0});  // a message without a receive would be the end
  constexpr std::uint32_t receives = 4;
  constexpr std::uint32_t messages = 50;
  Credits credits{receives};
  Owed owed{receives / 2};
  for (std::uint32_t i = 0; i < receives; ++i) {
    Pair::receive(pair.b, i, std::size_t{64} * i, 64);
    Pair::receive(pair.a, 100 + i, 2048, 64);  // for what the other side tells
  }
  std::uint32_t sent = 0;
  std::uint32_t seen = 0;
  std::uint32_t stopped = 0;
  while (seen < messages) {
    // The sender, as long as it may.
    while (sent < messages && credits.take()) {
      std::memcpy(pair.a.at(std::size_t{4} * sent), &sent, sizeof sent);
      Pair::send(pair.a, 1000 + sent, std::size_t{4} * sent, sizeof sent);
      ++sent;
    }
    stopped += sent < messages ? 1 : 0;
    // The receiver.
    const ibv_wc message = pair.b.wait();
    lab::check_completion(message);
    if (message.wr_id < 100) {
      std::uint32_t number = 0;
      std::memcpy(&number, pair.b.at(64 * message.wr_id), sizeof number);
      EXPECT(number == seen);
      ++seen;
      Pair::receive(pair.b, message.wr_id, 64 * message.wr_id, 64);
      if (const std::uint32_t due = owed.reposted(); due > 0) {
        send_credits(pair.b.qp, 500, due);
      }
    }
    // The sender again: what has it been told?
    for (ibv_wc completion{}; ibv_poll_cq(pair.a.cq.get(), 1, &completion) > 0;) {
      lab::check_completion(completion);
      if (completion.wr_id >= 100 && completion.wr_id < 500) {
        EXPECT((completion.wc_flags & IBV_WC_WITH_IMM) != 0);
        credits.add(ntohl(completion.imm_data));
        Pair::receive(pair.a, completion.wr_id, 2048, 64);
      }
    }
  }
  EXPECT(sent == messages && stopped > 0);  // it did have to stop
}

namespace {

// A pair whose second QP takes its receives from an SRQ.
struct Shared : Pair {
  lab::Owned<ibv_srq, ibv_destroy_srq> srq{create_srq(pd.get(), 16)};
  Shared() { make_qp(b, IBV_QPT_RC, srq.get()); }
  ~Shared() { b.owner.reset(); }
  Shared(const Shared&) = delete;

  void fill(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      post_to_srq(srq.get(), i, b.at(64 * i), 64, b.mr.get());
    }
  }
  // `count` messages arrive.
  void pass(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      a.put(0, "shared");
      send(a, i, 0, 6);
      EXPECT(a.completed(i));
      const ibv_wc completion = b.wait();
      EXPECT(completion.status == IBV_WC_SUCCESS && b.holds(64 * completion.wr_id, "shared"));
    }
  }
  // How many events of this SRQ there are.
  int limits() {
    int count = 0;
    read_events(device.context.get(), [&](const ibv_async_event& event) {
      count += event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq.get() ? 1 : 0;
    });
    return count;
  }
};

}  // namespace

SNIPPET("srq") {
  Shared shared;
  do_not_wait_for_events(shared.device.context.get());
  shared.connect();
  shared.fill(8);
  arm_srq_limit(shared.srq.get(), 4);
  shared.pass(4);
  EXPECT(shared.limits() == 0);  // 4 are left: not fewer than 4
  shared.pass(3);
  EXPECT(shared.limits() == 1);  // once, though it went on to fall
  shared.fill(8);
  shared.pass(7);
  EXPECT(shared.limits() == 0);  // not armed again
  shared.fill(8);
  arm_srq_limit(shared.srq.get(), 4);
  shared.pass(7);
  EXPECT(shared.limits() == 1);
}

SNIPPET("async-event") {
  Shared shared;
  do_not_wait_for_events(shared.device.context.get());
  shared.connect();
  EXPECT(read_events(shared.device.context.get(), [](const ibv_async_event&) {}) == 0);  // it did not wait
  shared.fill(2);
  arm_srq_limit(shared.srq.get(), 2);
  shared.pass(1);
  std::string name;
  EXPECT(read_events(shared.device.context.get(), [&](const ibv_async_event& event) {
           name = ibv_event_type_str(event.event_type);
           EXPECT(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == shared.srq.get());
         }) == 1);
  EXPECT(!name.empty());
  // A handler that throws: the event is acknowledged all the same, else the SRQ could not be destroyed.
  shared.fill(2);
  arm_srq_limit(shared.srq.get(), 2);
  shared.pass(2);
  EXPECT(throws("handler", [&] {
    read_events(shared.device.context.get(), [](const ibv_async_event&) { throw std::runtime_error("handler"); });
  }));
}

namespace {

// One datagram from a to b.
void datagram_passes() {
  constexpr std::uint32_t qkey = 0x11111111;
  Pair pair{IBV_QPT_UD};
  ready_ud_qp(pair.a.qp, pair.path.port, qkey);
  ready_ud_qp(pair.b.qp, pair.path.port, qkey);
  EXPECT(lab::state_of(pair.a.qp) == IBV_QPS_RTS);
  const std::span<std::byte> memory{pair.b.at(0), 200};
  post_datagram_receive(pair.b.qp, 41, memory, pair.b.mr.get());
  lab::Owned<ibv_ah, ibv_destroy_ah> ah{create_ah(pair.pd.get(), pair.path.port,
                                                  static_cast<std::uint8_t>(pair.path.source->gid_index),
                                                  pair.path.source->gid, pair.device.port_attr.lid)};
  const std::string text = "a datagram";
  pair.a.put(0, text);
  send_datagram(pair.a.qp, 42, pair.a.piece(0, text.size()), ah.get(), pair.b.qp->qp_num, qkey);
  EXPECT(pair.a.completed(42));
  const ibv_wc completion = pair.b.wait();
  EXPECT(completion.wr_id == 41 && completion.byte_len == 40 + text.size() && completion.src_qp == pair.a.qp->qp_num);
  const std::span<const std::byte> payload = datagram(memory, completion);
  EXPECT(payload.size() == text.size() && payload.data() == memory.data() + 40);
  EXPECT(std::memcmp(payload.data(), text.data(), text.size()) == 0);
}

}  // namespace

SNIPPET("ud-qp") { datagram_passes(); }
SNIPPET("ud-send") { datagram_passes(); }
SNIPPET("ud-receive") {
  datagram_passes();
  std::array<std::byte, 50> memory{};
  EXPECT(throws("Flush", [&] { (void)datagram(memory, {.status = IBV_WC_WR_FLUSH_ERR, .byte_len = 50}); }));
}
