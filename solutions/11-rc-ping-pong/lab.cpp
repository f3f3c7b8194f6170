// Lab 11: an echo that does not copy. The task is in README.md.
//
//     ./lab check 11                 builds and checks this file
//     ./lab hint 11 1                a hint for step 1

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/deadline.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/exchange.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

enum RequestId : std::uint64_t { receive_id = 1, send_id = 2 };

// Two slots of memory, each for one message. At most two receives and one send are outstanding.
class Game {
public:
  Game(const lab::Device& device, const lab::Path& path, const lab::Options& options)
      : size_{options.size},
        rounds_{options.iters},
        patience_{options.deadline},
        memory_(2 * options.size),
        pd_{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        mr_{lab::check(ibv_reg_mr(pd_.get(), memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")},
        cq_{lab::check(ibv_create_cq(device.context.get(), 3, nullptr, nullptr, 0), "ibv_create_cq")} {
    ibv_qp_init_attr init{.send_cq = cq_.get(),
                          .recv_cq = cq_.get(),
                          .cap = {.max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    qp_.reset(lab::check(ibv_create_qp(pd_.get(), &init), "ibv_create_qp"));
    lab::to_init(qp_.get(), path);
  }

  [[nodiscard]] ibv_qp* qp() const { return qp_.get(); }

  // step 1
  // A receive into a slot, 0 or 1.
  void post_receive(unsigned slot) {
    ibv_sge where = place(slot);
    ibv_recv_wr request{.wr_id = receive_id, .sg_list = &where, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(qp_.get(), &request, &bad), "ibv_post_recv");
  }

  // The message in a slot goes out.
  void post_send(unsigned slot) {
    ibv_sge where = place(slot);
    ibv_send_wr request{
        .wr_id = send_id, .sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(qp_.get(), &request, &bad), "ibv_post_send");
  }
  // end of step 1

  // Waits until so many messages have come in all, and so many of this side's have been acknowledged.
  void wait_until(unsigned received, unsigned sent) {
    // step 2
    while (received_ < received || sent_ < sent) {
      const ibv_wc completion = lab::wait_completion(cq_.get(), patience_, "the peer");
      lab::check_completion(completion);
      if (completion.wr_id == send_id) {
        ++sent_;
      } else if (completion.byte_len == size_) {
        ++received_;
      } else {
        throw lab::Error{"a message of " + std::to_string(completion.byte_len) + " bytes came"};
      }
    }
    // end of step 2
  }

  // Sends "ping 1" from slot 0, waits for the answer in slot 1, prints it; and so on.
  void be_client() {
    // step 3
    for (unsigned round = 1; round <= rounds_; ++round) {
      write_ping(0, round);
      post_receive(1);
      post_send(0);
      wait_until(round, round);
      print("answer", 1, round);
    }
    // end of step 3
  }

  // step 4
  // What the server does before it tells anybody its address.
  void get_ready() {
    post_receive(0);
    post_receive(1);
  }

  // Prints each message, and sends it back from the slot into which it came.
  void be_server() {
    for (unsigned round = 1; round <= rounds_; ++round) {
      const unsigned slot = (round - 1) % 2;
      wait_until(round, round - 1);
      print("message", slot, round);
      if (round > 1) {
        post_receive(1 - slot);  // its answer has been acknowledged
      }
      post_send(slot);
    }
    wait_until(rounds_, rounds_);
  }
  // end of step 4

private:
  [[nodiscard]] char* slot_begin(unsigned slot) { return memory_.data() + slot * size_; }

  [[nodiscard]] ibv_sge place(unsigned slot) {
    return {.addr = reinterpret_cast<std::uintptr_t>(slot_begin(slot)),
            .length = static_cast<std::uint32_t>(size_),
            .lkey = mr_->lkey};
  }

  void write_ping(unsigned slot, unsigned round) { std::snprintf(slot_begin(slot), size_, "ping %u", round); }

  // The first 16 bytes of a message, or what comes before a NUL among them.
  void print(const char* what, unsigned slot, unsigned round) {
    std::printf("%s %u: %.*s\n", what, round, static_cast<int>(std::min<std::size_t>(size_, 16)), slot_begin(slot));
  }

  std::size_t size_;
  unsigned rounds_;
  std::chrono::seconds patience_;
  std::vector<char> memory_;
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd_;
  lab::Owned<ibv_mr, ibv_dereg_mr> mr_;
  lab::Owned<ibv_cq, ibv_destroy_cq> cq_;
  lab::Owned<ibv_qp, ibv_destroy_qp> qp_;
  unsigned received_ = 0;  // messages that have come
  unsigned sent_ = 0;      // messages that were acknowledged
};

void play(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const lab::Path path = lab::make_path(device, options);
  Game game{device, path, options};
  const lab::Endpoint local = lab::local_endpoint(device, path, game.qp());
  const auto connect = [&](const lab::Endpoint& remote) {
    lab::to_rtr(game.qp(), path, remote);
    lab::to_rts(game.qp(), local.psn);
  };
  const lab::Deadline deadline{std::chrono::seconds{options.deadline}};
  if (options.server.empty()) {
    game.get_ready();
    lab::exchange_as_server(lab::accept_one(lab::listen_on(options.port), deadline), local, deadline, connect);
    game.be_server();
  } else {
    connect(lab::exchange_as_client(lab::connect_to(options.server, options.port, deadline), local, deadline));
    game.be_client();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 11: a ping-pong whose server answers out of the memory into which a message came",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::port, lab::Opt::size,
                   lab::Opt::iters, lab::Opt::mtu, lab::Opt::sl, lab::Opt::deadline, lab::Opt::server},
                  play);
}
