// Requests that are in error: which status each side sees.
#include "tools/deviations/bench.hpp"

#include "common/units.hpp"

#include <array>
#include <cstdio>

namespace deviations {

namespace {

constexpr std::uint32_t no_key = 0x10000;  // added to a key: no region has it

// A message of 64 bytes with something wrong.
template <class Change>
std::string message(const Bench& bench, Change change) {
  const Pair pair{bench, {}};
  pair.connect();
  ibv_sge into = pair.into();
  ibv_sge from = pair.from();
  change(from, into);
  lab::check_errno(post_recv(pair.peer.get(), into), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = from}), "ibv_post_send");
  return pair.outcome();
}

// An RDMA write of 8 bytes with something wrong.
template <class Change>
std::string write(const Bench& bench, const Setup& setup, Change change) {
  const Pair pair{bench, setup};
  pair.connect();
  Request request = pair.one_sided(IBV_WR_RDMA_WRITE);
  change(request);
  lab::check_errno(post_send(pair.qp.get(), request), "ibv_post_send");
  return status(completion(pair.cq.get(), 10s)) + ", peer in " + lab::qp_state_name(lab::state_of(pair.peer.get()));
}

std::string receive_too_small(const Bench& bench) {
  return message(bench, [](ibv_sge&, ibv_sge& into) { into.length = 8; });
}

std::string lkey_unknown(const Bench& bench) {
  return message(bench, [](ibv_sge& from, ibv_sge&) { from.lkey += no_key; });
}

std::string lkey_other_pd(const Bench& bench) {
  const Pd pd{lab::check(ibv_alloc_pd(bench.context()), "ibv_alloc_pd")};
  const Mr mr{lab::check(ibv_reg_mr(pd.get(), bench.memory.data(), bench.memory.size(), 0), "ibv_reg_mr")};
  return message(bench, [&](ibv_sge& from, ibv_sge&) { from.lkey = mr->lkey; });
}

std::string sge_outside(const Bench& bench) {
  const Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), 32, 0), "ibv_reg_mr")};
  return message(bench, [&](ibv_sge& from, ibv_sge&) { from.lkey = mr->lkey; });
}

std::string receive_lkey_unknown(const Bench& bench) {
  return message(bench, [](ibv_sge&, ibv_sge& into) { into.lkey += no_key; });
}

std::string receive_not_writable(const Bench& bench) {
  const Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), bench.memory.size(), 0), "ibv_reg_mr")};
  return message(bench, [&](ibv_sge&, ibv_sge& into) { into.lkey = mr->lkey; });
}

std::string rkey_unknown(const Bench& bench) {
  return write(bench, {}, [](Request& request) { request.rkey += no_key; });
}

std::string mr_without_right(const Bench& bench) {
  const Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), bench.memory.size(),
                                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
                         "ibv_reg_mr")};
  return write(bench, {}, [&](Request& request) { request.rkey = mr->rkey; });
}

std::string qp_without_right(const Bench& bench) {
  Setup setup;
  setup.access = 0;
  return write(bench, setup, [](Request&) {});
}

std::string rkey_is_lkey(const Bench& bench) {
  return write(bench, {}, [&](Request& request) { request.rkey = bench.mr->lkey; });
}

// An RDMA read between QPs of which one does not take part in any.
std::string read_with(const Bench& bench, std::uint8_t rd_atomic, std::uint8_t dest_rd_atomic) {
  Setup setup;
  setup.rd_atomic = rd_atomic;
  setup.dest_rd_atomic = dest_rd_atomic;
  const Pair pair{bench, setup};
  pair.connect();
  const int result = post_send(pair.qp.get(), pair.one_sided(IBV_WR_RDMA_READ));
  return answer(result) + ", " + status(completion(pair.cq.get(), 1s));
}

std::string rd_atomic_zero(const Bench& bench) { return read_with(bench, 0, 1); }
std::string dest_rd_atomic_zero(const Bench& bench) { return read_with(bench, 1, 0); }

std::string atomic_misaligned(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  Request add = pair.one_sided(IBV_WR_ATOMIC_FETCH_AND_ADD);
  add.remote_addr += 4;
  const int result = post_send(pair.qp.get(), add);
  return answer(result) + ", " + status(completion(pair.cq.get(), 1s));
}

std::string no_receive(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  return pair.outcome();
}

// How long a message without a receive is tried: once more after the pause that the receiver asks for.
std::string rnr_timer(const Bench& bench) {
  std::vector<std::string> parts;
  for (const std::uint8_t timer : {std::uint8_t{0}, std::uint8_t{1}}) {
    Setup setup;
    setup.min_rnr_timer = timer;
    const Pair pair{bench, setup};
    pair.connect();
    const auto begin = std::chrono::steady_clock::now();
    lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
    const std::string ended = status(completion(pair.cq.get(), 10s));
    const auto taken = std::chrono::steady_clock::now() - begin;
    parts.push_back("timer " + std::to_string(timer) + ": " + ended +
                    (taken >= 600ms ? " after 600 ms" : " before 600 ms"));
  }
  return joined(parts);
}

std::string nobody_there(const Bench& bench, std::uint8_t retry_cnt) {
  Setup setup;
  setup.persistence = {.timeout = 8, .retry_cnt = retry_cnt, .rnr_retry = 0};
  const Pair pair{bench, setup};
  pair.init(pair.qp.get());
  pair.rtr(pair.qp.get());
  pair.rts(pair.qp.get());  // the second stays in RESET
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  return status(completion(pair.cq.get(), 3s));
}

std::string retries_6(const Bench& bench) { return nobody_there(bench, 6); }
std::string retries_7(const Bench& bench) { return nobody_there(bench, 7); }

std::string error_fields(const Bench& bench) {
  const Pair pair{bench, {}};
  pair.connect();
  lab::check_errno(post_recv(pair.peer.get(), pair.into(8)), "ibv_post_recv");
  lab::check_errno(post_send(pair.qp.get(), {.sge = pair.from()}), "ibv_post_send");
  const auto received = completion(pair.peer_cq.get(), 10s);
  if (!received) {
    return "none";
  }
  return lab::status_text(received->status) + ": vendor_err " + std::to_string(received->vendor_err) + ", opcode " +
         (received->opcode == IBV_WC_SEND ? "IBV_WC_SEND" : std::to_string(received->opcode)) + ", byte_len " +
         std::to_string(received->byte_len);
}

constexpr std::array failure_rows{
    Row{"receive-too-small", "a message of 64 bytes, a receive of 8", receive_too_small},
    Row{"lkey-unknown", "a send with an lkey that no region has", lkey_unknown},
    Row{"lkey-other-pd", "a send with the lkey of another PD", lkey_other_pd},
    Row{"sge-outside", "a send that reaches past its region", sge_outside},
    Row{"receive-lkey-unknown", "a receive with an lkey that no region has", receive_lkey_unknown},
    Row{"receive-not-writable", "a receive into a region without LOCAL_WRITE", receive_not_writable},
    Row{"rkey-unknown", "an RDMA write with an rkey that no region has", rkey_unknown},
    Row{"mr-without-right", "an RDMA write into a region without REMOTE_WRITE", mr_without_right},
    Row{"qp-without-right", "an RDMA write to a QP without REMOTE_WRITE", qp_without_right},
    Row{"rkey-is-lkey", "an RDMA write with the lkey for rkey", rkey_is_lkey},
    Row{"rd-atomic-zero", "an RDMA read, max_rd_atomic 0", rd_atomic_zero},
    Row{"dest-rd-atomic-zero", "an RDMA read, the peer's max_dest_rd_atomic 0", dest_rd_atomic_zero},
    Row{"atomic-misaligned", "an atomic at an address that is no multiple of 8", atomic_misaligned},
    Row{"no-receive", "an RC message that finds no receive, rnr_retry 1", no_receive},
    Row{"rnr-timer", "no receive, rnr_retry 1, min_rnr_timer 0 and 1", rnr_timer},
    Row{"retries-6", "the peer does not answer: timeout 8 (1 ms), retry_cnt 6, 3 s", retries_6},
    Row{"retries-7", "the peer does not answer: timeout 8 (1 ms), retry_cnt 7, 3 s", retries_7},
    Row{"error-fields", "the other fields of a receive's error completion", error_fields},
};

}  // namespace

std::span<const Row> failures() { return failure_rows; }

}  // namespace deviations
