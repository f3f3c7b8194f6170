// From RESET to RTS and back, and what two sides tell each other.
#include "docs/snippets/buffer-record.cpp"
#include "docs/snippets/drain.cpp"
#include "docs/snippets/qp-state-of.cpp"
#include "docs/snippets/qp-states.cpp"
#include "docs/snippets/recover.cpp"
#include "docs/snippets/tcp-exchange.cpp"
#include "docs/snippets/timers.cpp"
#include "testing.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <thread>

namespace {

std::optional<std::uint8_t> gid_index(const Pair& pair) {
  if (!pair.path.source) {
    return std::nullopt;
  }
  return static_cast<std::uint8_t>(pair.path.source->gid_index);
}

Peer peer(const Pair& pair, const ibv_qp* qp, std::uint32_t psn) {
  return {.lid = pair.device.port_attr.lid,
          .qpn = qp->qp_num,
          .psn = psn,
          .gid = pair.path.source ? pair.path.source->gid : ibv_gid{}};
}

// All three steps of one side.
std::array<Transition, 3> all_steps(const Pair& pair, const ibv_qp* other, std::uint32_t own_psn,
                                    std::uint32_t other_psn) {
  return {to_init(pair.path.port, 0),
          to_rtr(pair.path.port, pair.path.mtu, peer(pair, other, other_psn), gid_index(pair)), to_rts(own_psn)};
}

void message_passes(Pair& pair, const std::string& text) {
  Pair::receive(pair.b, 1, 0, 64);
  pair.a.put(0, text);
  Pair::send(pair.a, 2, 0, text.size());
  EXPECT(pair.a.completed(2) && pair.b.completed(1));
  EXPECT(pair.b.holds(0, text));
}

}  // namespace

SNIPPET("qp-states") {
  Pair pair;
  for (const Transition& step : all_steps(pair, pair.b.qp, 0xffffff, 5)) {
    apply(pair.a.qp, step);
  }
  for (const Transition& step : all_steps(pair, pair.a.qp, 5, 0xffffff)) {
    apply(pair.b.qp, step);
  }
  message_passes(pair, "over RoCE");
  // InfiniBand: by LID alone.
  const Transition by_lid = to_rtr(2, IBV_MTU_2048, {.lid = 7, .qpn = 8, .psn = 9}, std::nullopt);
  EXPECT(by_lid.attr.ah_attr.dlid == 7 && by_lid.attr.ah_attr.is_global == 0 && by_lid.attr.ah_attr.port_num == 2);
  EXPECT(by_lid.attr.path_mtu == IBV_MTU_2048 && by_lid.attr.dest_qp_num == 8 && by_lid.attr.rq_psn == 9);
  EXPECT((by_lid.mask & IBV_QP_AV) != 0);
}

SNIPPET("qp-state-of") {
  Pair pair;
  EXPECT(state_of(pair.a.qp) == IBV_QPS_RESET);
  pair.connect();
  EXPECT(state_of(pair.a.qp) == IBV_QPS_RTS);
}

SNIPPET("timers") {
  using namespace std::chrono_literals;
  EXPECT(longest_wait(14, 6) == 67'108'864ns * 4 * 7);
  EXPECT(timeout_within(2s, 6) == 14);
  EXPECT(timeout_within(1s, 6) == 13);
  EXPECT(timeout_within(100h, 6) == 31);
  EXPECT(!timeout_within(1us, 6));
  // A peer that never answers: its QP is still in RESET.
  const auto limit = 500ms;
  const std::uint8_t timeout = timeout_within(limit, 6).value();
  EXPECT(timeout == 12);
  Pair pair;
  const lab::Endpoint here = lab::local_endpoint(pair.device, pair.path, pair.a.qp);
  lab::to_init(pair.a.qp, pair.path);
  lab::to_rtr(pair.a.qp, pair.path, lab::local_endpoint(pair.device, pair.path, pair.b.qp));
  lab::to_rts(pair.a.qp, here.psn, {.timeout = timeout, .retry_cnt = 6});
  const auto start = std::chrono::steady_clock::now();
  Pair::send(pair.a, 1, 0, 8);
  EXPECT(pair.a.wait().status == IBV_WC_RETRY_EXC_ERR);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT(took >= longest_wait(timeout, 6) / 4);
  EXPECT(took < 4 * limit);  // the device's part is within the limit; this host may be slow
}

SNIPPET("drain") {
  Pair pair;
  pair.connect({.timeout = 8, .retry_cnt = 7, .rnr_retry = 7});
  for (std::uint64_t i = 0; i < 3; ++i) {
    Pair::receive(pair.a, 10 + i, 0, 64);
  }
  Pair::send(pair.a, 20, 64, 8);  // nobody has posted a receive: it is tried again without end
  Pair::send(pair.a, 21, 64, 8);
  std::vector<std::uint64_t> flushed;
  drain(
      pair.a.qp,
      [&](const ibv_wc& completion) {
        if (completion.status == IBV_WC_WR_FLUSH_ERR) {
          flushed.push_back(completion.wr_id);
        }
      },
      in(patience));
  std::sort(flushed.begin(), flushed.end());
  EXPECT((flushed == std::vector<std::uint64_t>{10, 11, 12, 20, 21}));
  EXPECT(lab::state_of(pair.a.qp) == IBV_QPS_ERR);
  // Nothing at all is left, and a second time there is nothing to hand out.
  drain(
      pair.a.qp, [](const ibv_wc&) { throw std::runtime_error("a completion was left"); }, in(patience));
}

SNIPPET("recover") {
  Pair pair;
  pair.connect();
  message_passes(pair, "before");
  ibv_qp_attr to_err{.qp_state = IBV_QPS_ERR};
  EXPECT(ibv_modify_qp(pair.a.qp, &to_err, IBV_QP_STATE) == 0);
  EXPECT(ibv_modify_qp(pair.b.qp, &to_err, IBV_QP_STATE) == 0);
  const auto again = [&](ibv_qp* qp, const ibv_qp* other, std::uint32_t own_psn, std::uint32_t other_psn) {
    std::vector<Step> steps;
    for (const Transition& transition : all_steps(pair, other, own_psn, other_psn)) {
      steps.push_back({transition.attr, transition.mask});
    }
    restart(qp, steps);
  };
  again(pair.a.qp, pair.b.qp, 100, 200);
  again(pair.b.qp, pair.a.qp, 200, 100);
  message_passes(pair, "after");
}

namespace {

struct Sockets {
  int server = -1;
  int client = -1;

  // Two ends of a TCP connection.
  Sockets() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, any, size) != 0 || listen(listener, 1) != 0 || getsockname(listener, any, &size) != 0 ||
        connect(client, any, size) != 0) {
      throw std::system_error(errno, std::generic_category(), "TCP");
    }
    server = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~Sockets() {
    close(server);
    close(client);
  }
  Sockets(const Sockets&) = delete;
};

}  // namespace

SNIPPET("tcp-exchange") {
  using std::chrono::milliseconds;
  const Sockets sockets;
  // More than the sockets hold: were both to send all before they receive, neither would end.
  std::vector<std::byte> one(8000000, std::byte{1});
  std::vector<std::byte> two(8000000, std::byte{2});
  std::vector<std::byte> got_one(one.size());
  std::vector<std::byte> got_two(two.size());
  std::string failure;
  std::thread other{[&] {
    try {
      exchange(sockets.server, two, got_one, in(patience));
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }};
  try {
    exchange(sockets.client, one, got_two, in(patience));
  } catch (const std::exception& error) {
    failure = error.what();
  }
  other.join();
  EXPECT(failure.empty());
  EXPECT(got_one == one && got_two == two);
  // A peer that says nothing, and one that is gone.
  std::array<std::byte, 4> mine{};
  std::array<std::byte, 4> theirs{};
  EXPECT(throws("silent", [&] { exchange(sockets.client, mine, theirs, in(milliseconds{50})); }));
  EXPECT(shutdown(sockets.server, SHUT_WR) == 0);
  EXPECT(throws("closed", [&] { exchange(sockets.client, mine, theirs, in(patience)); }));
}

SNIPPET("buffer-record") {
  Pair pair;
  const BufferRecord record = pack_buffer(pair.b.mr.get());
  const RemoteBuffer buffer = unpack_buffer(record);
  EXPECT(buffer.addr == pair.b.address(0) && buffer.rkey == pair.b.mr->rkey && buffer.length == 4096);
  EXPECT(record[14] == std::byte{0x10} && record[15] == std::byte{0});  // 4096, the highest byte first
}
