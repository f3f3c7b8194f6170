// 11-rc-ping-pong: how long does a message take there and back?
//
// Verbs:   those of the chapters before, put together
// Run:     ./lab pingpong                       both sides, one on each host
//          ./lab pingpong -s 64 -n 5000 --chk   other sizes and counts; verify every payload
// Expect:  both addresses, then bytes, iterations and microseconds for one there-and-back in ibv_rc_pingpong's form,
//          then the median and the 99th percentile. Either side may be ibv_rc_pingpong itself.

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/deadline.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/exchange.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
enum RequestId : std::uint64_t { receive_id = 1, send_id = 2 };

// 4.096 us x 2^18 = 1.07 s until a message without an answer is sent again from its first unacknowledged packet.
// Soft-RoCE acknowledges a 64 KiB message only at its end, so that is the first packet. The usual 14 (67 ms) is less
// than such a message takes between two busy emulated hosts: they would begin again for ever.
constexpr lab::Persistence patient{.timeout = 18};

class PingPong {
public:
  PingPong(const lab::Device& device, const lab::Path& path, const lab::Options& options)
      : options_{options},
        memory_(2 * options.size),
        pd_{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        mr_{lab::check(ibv_reg_mr(pd_.get(), memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr",
                       std::to_string(memory_.size()) + " bytes")},
        // At most rx_depth receives and one send are outstanding at any time: this CQ cannot overrun.
        cq_{lab::check(ibv_create_cq(device.context.get(), static_cast<int>(options.rx_depth) + 1, nullptr, nullptr, 0),
                       "ibv_create_cq", std::to_string(options.rx_depth + 1) + " entries")} {
    ibv_qp_init_attr init{
        .send_cq = cq_.get(),
        .recv_cq = cq_.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = options.rx_depth, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    qp_.reset(lab::check(ibv_create_qp(pd_.get(), &init), "ibv_create_qp"));
    lab::to_init(qp_.get(), path);
    top_up_receives();  // before the peer learns our address: none of its messages can come too early
  }

  [[nodiscard]] ibv_qp* qp() const { return qp_.get(); }

  // The client: send, then wait for the answer, and for the acknowledgement after which the buffer is ours again.
  void ping(unsigned iteration) {
    if (options_.chk) {
      std::ranges::generate(outgoing(), [&, offset = 0U]() mutable { return pattern(iteration, offset++); });
    }
    post_send();
    wait_until(iteration + 1, iteration + 1);
    if (options_.chk) {
      verify(iteration);
    }
  }

  // The server: wait for the message, and for the acknowledgement of the answer before; then answer.
  void pong(unsigned iteration) {
    wait_until(iteration + 1, iteration);
    if (options_.chk) {
      std::ranges::copy(incoming(), outgoing().begin());
    }
    post_send();
  }

  // Polls until this side has had so many messages and so many of its own acknowledged.
  void wait_until(unsigned received, unsigned sent) {
    while (received_ < received || sent_ < sent) {
      handle(lab::wait_completion(cq_.get(), std::chrono::seconds{options_.deadline},
                                  "the next message. Is it dead, or was it started with another -n or -s?"));
    }
  }

private:
  [[nodiscard]] std::span<unsigned char> outgoing() { return std::span{memory_}.first(options_.size); }
  [[nodiscard]] std::span<unsigned char> incoming() { return std::span{memory_}.last(options_.size); }

  // Differs between neighbouring bytes and between neighbouring iterations, so that a stale or shifted payload shows.
  static unsigned char pattern(unsigned iteration, unsigned offset) {
    return static_cast<unsigned char>(iteration * 31 + offset * 7 + offset / 256);
  }

  void verify(unsigned iteration) {
    for (unsigned offset = 0; offset < options_.size; ++offset) {
      if (incoming()[offset] != pattern(iteration, offset)) {
        throw lab::Error("the payload of answer " + std::to_string(iteration) + " is wrong from byte " +
                         std::to_string(offset) + " on. Was the server started with --chk too?");
      }
    }
  }

  void post_send() {
    ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(outgoing().data()),
                  .length = static_cast<std::uint32_t>(options_.size),
                  .lkey = mr_->lkey};
    ibv_send_wr request{
        .wr_id = send_id, .sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(qp_.get(), &request, &bad), "ibv_post_send");
  }

  // All receives take the same buffer: only one message is under way at any time.
  void top_up_receives() {
    ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(incoming().data()),
                  .length = static_cast<std::uint32_t>(options_.size),
                  .lkey = mr_->lkey};
    ibv_recv_wr request{.wr_id = receive_id, .sg_list = &where, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    for (; posted_ < options_.rx_depth; ++posted_) {
      lab::check_errno(ibv_post_recv(qp_.get(), &request, &bad), "ibv_post_recv",
                       "receive " + std::to_string(posted_ + 1) + " of " + std::to_string(options_.rx_depth));
    }
  }

  // Which request a completion belongs to is read from wr_id: the opcode means nothing in an error.
  void handle(const ibv_wc& completion) {
    lab::check_completion(completion);
    if (completion.wr_id == send_id) {
      ++sent_;
      return;
    }
    if (completion.byte_len != options_.size) {
      throw lab::Error("a message of " + std::to_string(completion.byte_len) + " bytes came, expected " +
                       std::to_string(options_.size) + ": start both sides with the same -s");
    }
    ++received_;
    if (--posted_ <= 1) {
      top_up_receives();
    }
  }

  lab::Options options_;
  std::vector<unsigned char> memory_;  // the first half goes out, the second half comes in
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd_;
  lab::Owned<ibv_mr, ibv_dereg_mr> mr_;
  lab::Owned<ibv_cq, ibv_destroy_cq> cq_;
  lab::Owned<ibv_qp, ibv_destroy_qp> qp_;
  unsigned posted_ = 0;    // receives in the receive queue
  unsigned received_ = 0;  // messages that came
  unsigned sent_ = 0;      // messages that were acknowledged
};

// Swaps addresses with the peer and brings the QP to RTS.
void connect(const PingPong& game, const lab::Device& device, const lab::Path& path, const lab::Options& options) {
  const lab::Deadline deadline{std::chrono::seconds{options.deadline}};
  const lab::Endpoint local = lab::local_endpoint(device, path, game.qp());
  const auto get_ready = [&](const lab::Endpoint& remote) {
    std::printf("remote address: %s\n", lab::endpoint_text(remote).c_str());
    lab::to_rtr(game.qp(), path, remote);
    lab::to_rts(game.qp(), local.psn, patient);
  };
  const lab::Descriptor listener = options.server.empty() ? lab::listen_on(options.port) : lab::Descriptor{};
  std::printf("local address:  %s\n", lab::endpoint_text(local).c_str());
  if (options.server.empty()) {
    lab::exchange_as_server(lab::accept_one(listener, deadline), local, deadline, get_ready);
  } else {
    get_ready(lab::exchange_as_client(lab::connect_to(options.server, options.port, deadline), local, deadline));
  }
}

std::vector<double> play(PingPong& game, const lab::Options& options) {
  std::vector<double> microseconds;
  microseconds.reserve(options.iters);
  auto begin = Clock::now();
  for (unsigned iteration = 0; iteration < options.iters; ++iteration) {
    options.server.empty() ? game.pong(iteration) : game.ping(iteration);
    const auto end = Clock::now();
    microseconds.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    begin = end;
  }
  game.wait_until(options.iters, options.iters);  // the server's last answer must arrive before its QP goes
  return microseconds;
}

void report(const std::vector<double>& microseconds, double seconds, const lab::Options& options) {
  const double bytes = 2.0 * static_cast<double>(options.size) * options.iters;
  std::printf("%.0f bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, seconds, bytes * 8 / seconds / 1e6);
  std::printf("%u iters in %.2f seconds = %.2f usec/iter\n", options.iters, seconds, seconds * 1e6 / options.iters);
  std::printf("round trip: median %.2f usec, p99 %.2f usec\n", lab::median(microseconds),
              lab::percentile(microseconds, 99));
}

void ping_pong(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  if (options.size > device.port_attr.max_msg_sz) {  // said before twice as much memory is allocated for it
    throw lab::Error("-s " + std::to_string(options.size) + " is above the port's max_msg_sz, " +
                     std::to_string(device.port_attr.max_msg_sz) + " bytes");
  }
  const lab::Path path = lab::make_path(device, options);
  PingPong game{device, path, options};
  connect(game, device, path, options);
  const auto begin = Clock::now();
  const std::vector<double> microseconds = play(game, options);
  report(microseconds, std::chrono::duration<double>(Clock::now() - begin).count(), options);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(
      argc, argv, "11-rc-ping-pong: measures the round trip of a message between two hosts",
      {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::port, lab::Opt::size, lab::Opt::iters,
       lab::Opt::mtu, lab::Opt::rx_depth, lab::Opt::sl, lab::Opt::chk, lab::Opt::deadline, lab::Opt::server},
      ping_pong);
}
