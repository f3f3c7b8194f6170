// Posting: what is taken, and what comes of requests with nothing wrong in them.
#include "tools/deviations/bench.hpp"

#include "common/units.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace deviations {

namespace {

std::string post_early(const Bench& bench) {
  const Pair pair{bench, {}};
  std::vector<std::string> answers;
  const auto attempt = [&](const char* name) {
    answers.push_back(std::string{name} + " " + answer(post_send(pair.qp.get(), {.sge = pair.from()})));
  };
  attempt("RESET");
  pair.init(pair.qp.get());
  attempt("INIT");
  pair.rtr(pair.qp.get());
  attempt("RTR");
  return joined(answers);
}

std::string receive_in_reset(const Bench& bench) {
  const Pair pair{bench, {}};
  return answer(post_recv(pair.qp.get(), pair.into()));
}

// What a refused request leaves behind.
std::string refused_runs_later(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.init(pair.qp.get());
  pair.init(pair.peer.get());
  for (int i = 0; i < 4; ++i) {
    lab::check_errno(post_recv(pair.peer.get(), pair.into()), "ibv_post_recv");
  }
  ibv_send_wr* bad = nullptr;
  const int refused = post_send(pair.qp.get(), {.sge = pair.from(32)}, &bad);
  pair.connect_from_init();
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from(64)}), "ibv_post_send");
  return answer(refused) + ", bad_wr " + (bad == nullptr ? "NULL" : "set") +
         ", messages that arrive: " + std::to_string(completions(pair.peer_cq.get(), 1s));
}

// A QP in ERR that held nothing when it got there.
std::string post_in_err(const Bench& bench) {
  const auto attempt = [&](auto post) {
    const Pair pair{bench, {}};
    pair.connect();
    ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
    lab::check_errno(ibv_modify_qp(pair.qp.get(), &attr, IBV_QP_STATE), "ibv_modify_qp");
    const int result = post(pair);
    return answer(result) + " and " + status(completion(pair.cq.get(), 1s));
  };
  return "send " + attempt([](const Pair& pair) { return post_send(pair.qp.get(), {.sge = pair.from()}); }) +
         ", receive " + attempt([](const Pair& pair) { return post_recv(pair.qp.get(), pair.into()); });
}

std::string send_queue_full(const Bench& bench) {
  constexpr int most = 100;
  const Pair pair{bench, {}};
  pair.connect();
  Request write = pair.one_sided(IBV_WR_RDMA_WRITE);
  write.flags = 0;
  int taken = 0;
  int refused = 0;
  while (taken < most) {
    const int result = post_send(pair.qp.get(), write);
    if (result == 0) {
      ++taken;
      refused = 0;
    } else if (refused != 0) {
      return std::to_string(taken) + " taken, then " + answer(result);
    } else {
      refused = result;  // those before it may be under way still: once more, when they are done
      std::this_thread::sleep_for(500ms);
    }
  }
  return std::to_string(taken) + " taken";
}

std::string receive_queue_full(const Bench& bench) {
  Setup setup;
  setup.cap.max_recv_wr = 4;
  const Pair pair{bench, setup};
  pair.init(pair.qp.get());
  int taken = 0;
  int result = 0;
  while (taken < 1000 && (result = post_recv(pair.qp.get(), pair.into())) == 0) {
    ++taken;
  }
  return std::to_string(taken) + " taken, then " + answer(result);
}

std::string inline_too_long(const Bench& bench) {
  Setup setup;
  const Pair pair{bench, setup};
  pair.connect();
  return answer(post_send(pair.qp.get(), {.sge = pair.from(8192), .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE}));
}

std::string sge_too_many(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  std::vector<ibv_sge> pieces(64, pair.from(1));
  ibv_send_wr send{.wr_id = 2, .sg_list = pieces.data(), .num_sge = 64, .opcode = IBV_WR_SEND};
  ibv_send_wr* bad_send = nullptr;
  ibv_recv_wr receive{.wr_id = 1, .sg_list = pieces.data(), .num_sge = 64};
  ibv_recv_wr* bad_receive = nullptr;
  return "send " + answer(ibv_post_send(pair.qp.get(), &send, &bad_send)) + ", receive " +
         answer(ibv_post_recv(pair.qp.get(), &receive, &bad_receive));
}

std::string opcode_not_offered(const Bench& bench) {
  Setup setup;
  setup.type = IBV_QPT_UC;
  setup.access = IBV_ACCESS_REMOTE_WRITE;
  const Pair pair{bench, setup};
  pair.connect();
  const int result = post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_READ));
  return answer(result) + ", " + status(completion(pair.cq.get(), 1s));
}

std::string unsignalled(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  lab::check_errno(post_recv(pair.peer.get(), pair.into()), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from(), .flags = 0}), "ibv_post_send");
  return pair.outcome(1s);
}

// The first QP in the bench's PD, the second in another one.
std::string two_pds(const Bench& bench) {
  const Pd pd{lab::check(ibv_alloc_pd(bench.context()), "ibv_alloc_pd")};
  const Mr mr{
      lab::check(ibv_reg_mr(pd.get(), bench.memory.data(), bench.memory.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  Pair pair{bench, {}};
  ibv_qp_init_attr init{
      .send_cq = pair.peer_cq.get(), .recv_cq = pair.peer_cq.get(), .cap = pair.setup.cap, .qp_type = IBV_QPT_RC};
  pair.peer.reset(lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp"));
  pair.connect();
  ibv_sge into = pair.into();
  into.lkey = mr->lkey;
  lab::check_errno(post_recv(pair.peer.get(), into), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  return pair.outcome();
}

std::string empty_message(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  std::vector<std::string> answers;
  for (const int pieces : {0, 1}) {
    lab::check_errno(post_recv(pair.peer.get(), pair.into()), "ibv_post_recv");
    lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from(0), .num_sge = pieces}), "ibv_post_send");
    const auto received = completion(pair.peer_cq.get(), 5s);
    answers.push_back(status(received) + (received ? " byte_len " + std::to_string(received->byte_len) : ""));
  }
  return joined(answers);
}

std::string empty_write(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  Request write = pair.one_sided(IBV_WR_RDMA_WRITE);
  write.num_sge = 0;
  write.remote_addr = 0;
  write.rkey = 0x12345678;
  lab::check_errno(post_send(pair.qp.get(), write), "ibv_post_send");
  return status(completion(pair.cq.get(), 5s));
}

std::string inline_without_key(const Bench& bench) {
  Setup setup;
  setup.cap.max_inline_data = 32;
  const Pair pair{bench, setup};
  pair.connect();
  lab::check_errno(post_recv(pair.peer.get(), pair.into()), "ibv_post_recv");
  Request request{.sge = pair.from(16), .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
  request.sge.lkey = 0x12345678;
  lab::check_errno(post_send(pair.qp.get(), request), "ibv_post_send");
  return pair.outcome();
}

std::string message_too_long(const Bench& bench) {
  const std::uint32_t limit = bench.device.port_attr.max_msg_sz;
  constexpr std::uint32_t most = 64U << 20U;
  if (limit >= most) {
    throw lab::Error("max_msg_sz is " + std::to_string(limit) + ": too much memory for a try");
  }
  std::vector<char> room(limit + 1);
  const Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), room.data(), room.size(), every_right), "ibv_reg_mr")};
  const Pair pair{bench, {}};
  pair.connect();
  const auto at = reinterpret_cast<std::uintptr_t>(room.data());
  const int result = post_send(pair.qp.get(), {.sge = {.addr = at, .length = limit + 1, .lkey = mr->lkey},
                                               .opcode = IBV_WR_RDMA_WRITE,
                                               .remote_addr = at,
                                               .rkey = mr->rkey});
  return answer(result) + ", " + status(completion(pair.cq.get(), 20s));
}

std::string mtu_on_one_port(const Bench& bench) {
  // Both ends on one port: no packet meets a link that is too narrow for it.
  const Pair pair{bench, {}};
  for (ibv_qp* const which : {pair.qp.get(), pair.peer.get()}) {
    pair.init(which);
    lab::Path path = bench.path;
    path.mtu = IBV_MTU_4096;
    lab::to_rtr(which, path,
                {.lid = bench.device.port_attr.lid,
                 .qpn = (which == pair.qp.get() ? pair.peer : pair.qp)->qp_num,
                 .psn = 0,
                 .gid = path.source ? path.source->gid : ibv_gid{}});
    pair.rts(which);
  }
  lab::check_errno(post_recv(pair.peer.get(), pair.into(4096)), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from(4096)}), "ibv_post_send");
  return pair.outcome();
}

std::string cq_overrun(const Bench& bench) {
  Setup setup;
  setup.cq_entries = 3;
  setup.cap.max_send_wr = 32;
  const Pair pair{bench, setup};
  pair.connect();
  const int sent = pair.cq->cqe + 5;
  for (int i = 0; i < sent; ++i) {
    lab::check_errno(post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_WRITE)), "ibv_post_send");
  }
  const std::string events = bench.events(3s);
  const int kept = completions(pair.cq.get());
  return std::to_string(kept) + " of " + std::to_string(sent) + " kept, " + events + ", QP in " +
         lab::qp_state_name(lab::state_of(pair.qp.get()));
}

std::string after_destroy(const Bench& bench) {
  const Cq cq = bench.make_cq(8);
  {
    Setup setup;
    Pair pair{bench, setup};
    ibv_qp_init_attr init{.send_cq = cq.get(), .recv_cq = cq.get(), .cap = setup.cap, .qp_type = IBV_QPT_RC};
    pair.qp.reset(lab::check(ibv_create_qp(bench.pd.get(), &init), "ibv_create_qp"));
    pair.connect();
    lab::check_errno(post_recv(pair.qp.get(), pair.into()), "ibv_post_recv");
    lab::check_errno(post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_WRITE)), "ibv_post_send");
    std::this_thread::sleep_for(1s);  // its completion is in the queue now, and nobody polls
  }
  return "completions: " + std::to_string(completions(cq.get()));
}

std::string after_reset(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  lab::check_errno(post_recv(pair.qp.get(), pair.into()), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_WRITE)), "ibv_post_send");
  std::this_thread::sleep_for(1s);
  ibv_qp_attr attr{.qp_state = IBV_QPS_RESET};
  lab::check_errno(ibv_modify_qp(pair.qp.get(), &attr, IBV_QP_STATE), "ibv_modify_qp");
  return "completions: " + std::to_string(completions(pair.cq.get()));
}

std::string uc_no_receive(const Bench& bench) {
  Setup setup;
  setup.type = IBV_QPT_UC;
  setup.access = IBV_ACCESS_REMOTE_WRITE;
  const Pair pair{bench, setup};
  pair.connect();
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  return pair.outcome();
}

// A UD QP that sends to itself.
struct Datagrams {
  explicit Datagrams(const Bench& bench_) : bench{bench_}, cq{bench.make_cq(16)} {
    ibv_qp_init_attr init{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_UD};
    qp.reset(lab::check(ibv_create_qp(bench.pd.get(), &init), "ibv_create_qp"));
    ibv_qp_attr attr{.qp_state = IBV_QPS_INIT, .qkey = qkey, .port_num = bench.path.port};
    step(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr.qp_state = IBV_QPS_RTR;
    step(attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    step(attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    ibv_ah_attr to{.dlid = bench.device.port_attr.lid, .port_num = bench.path.port};
    if (bench.path.source) {
      to.is_global = 1;
      to.grh = {.dgid = bench.path.source->gid,
                .sgid_index = static_cast<std::uint8_t>(bench.path.source->gid_index),
                .hop_limit = 64};
    }
    ah.reset(lab::check(ibv_create_ah(bench.pd.get(), &to), "ibv_create_ah"));
  }

  void step(ibv_qp_attr& attr, int mask) const {
    lab::check_errno(ibv_modify_qp(qp.get(), &attr, mask), "ibv_modify_qp");
  }

  // Sends so many bytes; returns the send's completion and the receive's.
  [[nodiscard]] std::array<std::optional<ibv_wc>, 2> exchange(std::uint32_t length, std::uint32_t key) const {
    std::fill(bench.memory.begin() + half, bench.memory.end(), '\0');
    lab::check_errno(post_recv(qp.get(), {.addr = bench.address(half), .length = half, .lkey = bench.mr->lkey}),
                     "ibv_post_recv");
    ibv_sge from{.addr = bench.address(), .length = length, .lkey = bench.mr->lkey};
    ibv_send_wr wr{.wr_id = 2,
                   .sg_list = &from,
                   .num_sge = 1,
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.ud = {.ah = ah.get(), .remote_qpn = qp->qp_num, .remote_qkey = key}}};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(qp.get(), &wr, &bad), "ibv_post_send");
    std::array<std::optional<ibv_wc>, 2> found;
    while (const std::optional<ibv_wc> next = completion(cq.get(), 1s)) {
      found.at(next->wr_id == 2 ? 0 : 1) = next;
    }
    return found;
  }

  static constexpr std::uint32_t qkey = 0x11111111;
  static constexpr std::uint32_t half = 8192;
  const Bench& bench;
  Cq cq;
  Qp qp;
  lab::Owned<ibv_ah, ibv_destroy_ah> ah;
};

std::string ud_grh(const Bench& bench) {
  const Datagrams datagrams{bench};
  const auto [sent, received] = datagrams.exchange(64, Datagrams::qkey);
  if (!received || received->status != IBV_WC_SUCCESS) {
    return "sender " + status(sent) + ", receiver " + status(received);
  }
  const auto version = [&](std::size_t at) {
    return static_cast<unsigned char>(bench.memory[Datagrams::half + at]) >> 4U;
  };
  return "byte_len " + std::to_string(received->byte_len) +
         ((received->wc_flags & IBV_WC_GRH) != 0 ? ", IBV_WC_GRH" : ", no IBV_WC_GRH") +
         ", IP version at byte 0: " + std::to_string(version(0)) + ", at byte 20: " + std::to_string(version(20));
}

std::string ud_above_mtu(const Bench& bench) {
  const Datagrams datagrams{bench};
  const auto [sent, received] =
      datagrams.exchange(lab::mtu_bytes(bench.device.port_attr.active_mtu) + 1, Datagrams::qkey);
  return "sender " + status(sent) + ", receiver " + status(received);
}

std::string ud_wrong_qkey(const Bench& bench) {
  const Datagrams datagrams{bench};
  const auto [sent, received] = datagrams.exchange(64, Datagrams::qkey + 1);
  return "sender " + status(sent) + ", receiver " + status(received);
}

constexpr std::array request_rows{
    Row{"post-early", "ibv_post_send before RTS", post_early},
    Row{"receive-in-reset", "ibv_post_recv in RESET", receive_in_reset},
    Row{"refused-runs-later", "a send is refused in INIT; in RTS another one is posted", refused_runs_later},
    Row{"post-in-err", "posting in ERR", post_in_err},
    Row{"send-queue-full", "100 unsignalled writes into a queue of 8, nothing polled", send_queue_full},
    Row{"receive-queue-full", "receives into a queue of 4", receive_queue_full},
    Row{"inline-too-long", "a send of 8192 bytes inline, more than was granted", inline_too_long},
    Row{"sge-too-many", "64 SGEs where 1 was asked for", sge_too_many},
    Row{"opcode-not-offered", "an RDMA read on a UC QP", opcode_not_offered},
    Row{"unsignalled", "a send without IBV_SEND_SIGNALED", unsignalled},
    Row{"two-pds", "a message between QPs of two PDs, each with a region of its own PD", two_pds},
    Row{"empty-message", "a send with no SGE, and with one of length 0", empty_message},
    Row{"empty-write", "an RDMA write of 0 bytes with a wrong rkey", empty_write},
    Row{"inline-without-key", "an inline send with a wrong lkey", inline_without_key},
    Row{"message-too-long", "an RDMA write of max_msg_sz + 1 bytes", message_too_long},
    Row{"mtu-on-one-port", "a message of 4096 bytes, path_mtu 4096, both ends on one port", mtu_on_one_port},
    Row{"cq-overrun", "5 completions more than a CQ holds", cq_overrun},
    Row{"after-destroy", "a send completes, a receive waits, the QP is destroyed, the CQ is polled", after_destroy},
    Row{"after-reset", "a send completes, a receive waits, the QP goes to RESET, the CQ is polled", after_reset},
    Row{"uc-no-receive", "a UC message that finds no receive", uc_no_receive},
    Row{"ud-grh", "a datagram of 64 bytes", ud_grh},
    Row{"ud-above-mtu", "a datagram of active_mtu + 1 bytes", ud_above_mtu},
    Row{"ud-wrong-qkey", "a datagram with another Q_Key", ud_wrong_qkey},
};

}  // namespace

std::span<const Row> requests() { return request_rows; }

}  // namespace deviations
