// 09-send-and-receive: how does a message get from one QP to another, and what is said when it does not?
//
// Verbs:   ibv_post_recv, ibv_post_send, ibv_poll_cq
// Run:     ./lab run 09
// Expect:  two QPs of this process, connected to each other; one message with both of its completions; then the same
//          with one thing wrong at a time, each with the completions and the states of both QPs afterwards.

#include "common/connect.hpp"
#include "common/deadline.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

constexpr std::string_view message = "a message of 26 characters";
constexpr std::uint64_t receive_id = 1;  // wr_id is ours: it comes back with the completion and says which request
constexpr std::uint64_t send_id = 2;

Qp create_qp(ibv_pd* pd, ibv_cq* cq) {
  ibv_qp_init_attr init{.send_cq = cq,
                        .recv_cq = cq,
                        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  return Qp{lab::check(ibv_create_qp(pd, &init), "ibv_create_qp")};
}

// Everything that one experiment needs. Made anew for each, because a QP that has seen an error stays in ERR.
struct Pair {
  explicit Pair(const lab::Device& device, const lab::Path& path)
      : pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        other_pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        mr{register_in(pd.get())},
        other_mr{register_in(other_pd.get())},
        cq{lab::check(ibv_create_cq(device.context.get(), 4, nullptr, nullptr, 0), "ibv_create_cq")},
        sender{create_qp(pd.get(), cq.get())},
        receiver{create_qp(pd.get(), cq.get())} {
    const lab::Endpoint sending = lab::local_endpoint(device, path, sender.get());
    const lab::Endpoint receiving = lab::local_endpoint(device, path, receiver.get());
    lab::to_init(sender.get(), path);
    lab::to_init(receiver.get(), path);
    lab::to_rtr(sender.get(), path, receiving);
    lab::to_rtr(receiver.get(), path, sending);
    // The sender gives up after one retry, so that the experiment without a receive has an end.
    lab::to_rts(sender.get(), sending.psn, {.retry_cnt = 1, .rnr_retry = 1});
    lab::to_rts(receiver.get(), receiving.psn);
    std::ranges::copy(message, outgoing());
  }

  Mr register_in(ibv_pd* domain) {
    return Mr{lab::check(ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  }

  std::array<char, 128> memory{};  // the first half is sent, the second half received into
  Pd pd;
  Pd other_pd;
  Mr mr;        // the memory, registered in the QPs' protection domain
  Mr other_mr;  // the same memory, registered in another one
  Cq cq;
  Qp sender;
  Qp receiver;

  [[nodiscard]] char* outgoing() { return memory.data(); }
  [[nodiscard]] char* incoming() { return memory.data() + memory.size() / 2; }
};

// The SGE says where: an address, a length, and the lkey of the region in which that range lies.
void post_receive(Pair& pair, std::uint32_t length) {
  ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(pair.incoming()), .length = length, .lkey = pair.mr->lkey};
  ibv_recv_wr request{.wr_id = receive_id, .sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  lab::check_errno(ibv_post_recv(pair.receiver.get(), &request, &bad), "ibv_post_recv");
}

void post_send(Pair& pair, std::uint32_t lkey) {
  ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(pair.outgoing()), .length = message.size(), .lkey = lkey};
  ibv_send_wr request{.wr_id = send_id,
                      .sg_list = &where,
                      .num_sge = 1,
                      .opcode = IBV_WR_SEND,
                      .send_flags = IBV_SEND_SIGNALED};  // without it a success leaves no completion
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(pair.sender.get(), &request, &bad), "ibv_post_send");
}

// Polls until a completion is there or time is up. A poll that finds nothing returns 0; that is no error.
std::optional<ibv_wc> next_completion(ibv_cq* cq, lab::Deadline deadline) {
  ibv_wc completion{};
  while (true) {
    const int count = ibv_poll_cq(cq, 1, &completion);
    if (count > 0) {
      return completion;
    }
    if (count < 0) {
      throw lab::Error("ibv_poll_cq: it returned " + std::to_string(count) + ": the completion queue is broken");
    }
    if (deadline.passed()) {
      return std::nullopt;
    }
  }
}

// Reads the status first. Only wr_id, status, qp_num and vendor_err mean anything in a completion that is an error.
void print_completion(const Pair& pair, const ibv_wc& completion) {
  const char* const side = completion.qp_num == pair.sender->qp_num ? "sender" : "receiver";
  std::printf("  %-8s wr_id %u, %s", side, static_cast<unsigned>(completion.wr_id),
              lab::status_text(completion.status).c_str());
  if (completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_RECV) {
    std::printf(", opcode RECV, byte_len %u", completion.byte_len);
  }
  std::printf("\n");
}

// Shows what comes of an experiment: the sender's completion, the receiver's if there is one, and both states.
void show_outcome(Pair& pair, std::chrono::seconds patience) {
  std::optional<ibv_wc> of_sender;
  std::optional<ibv_wc> of_receiver;
  const lab::Deadline deadline{patience};
  // The sender always gets one. The receiver gets its own at about the same time, or never, and a QP that fails enters
  // ERR at about the time of its completion: a short pause decides both.
  while (!of_sender) {
    const std::optional<ibv_wc> completion = next_completion(pair.cq.get(), deadline);
    if (!completion) {
      throw lab::Error("no completion came within the deadline");
    }
    (completion->qp_num == pair.sender->qp_num ? of_sender : of_receiver) = completion;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  if (!of_receiver) {
    of_receiver = next_completion(pair.cq.get(), lab::Deadline{std::chrono::milliseconds{0}});
  }
  print_completion(pair, *of_sender);
  if (of_receiver) {
    print_completion(pair, *of_receiver);
    if (of_receiver->status == IBV_WC_SUCCESS) {
      std::printf("  received: \"%.*s\"\n", static_cast<int>(of_receiver->byte_len), pair.incoming());
    }
  }
  std::printf("  afterwards the sender is in %s, the receiver in %s\n",
              lab::qp_state_name(lab::state_of(pair.sender.get())),
              lab::qp_state_name(lab::state_of(pair.receiver.get())));
}

void experiments(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const lab::Path path = lab::make_path(device, options);
  const auto experiment = [&](const char* title, void (*post)(Pair&)) {
    std::printf("%s:\n", title);
    Pair pair{device, path};
    post(pair);
    show_outcome(pair, std::chrono::seconds{options.deadline});
  };

  experiment("receive of 64 bytes posted, then a message of 26 bytes sent", [](Pair& pair) {
    post_receive(pair, 64);  // first the receive: a message that finds none has nowhere to go
    post_send(pair, pair.mr->lkey);
  });
  experiment("no receive posted", [](Pair& pair) { post_send(pair, pair.mr->lkey); });
  experiment("receive of 8 bytes posted", [](Pair& pair) {
    post_receive(pair, 8);
    post_send(pair, pair.mr->lkey);
  });
  experiment("an lkey that no memory region has", [](Pair& pair) {
    post_receive(pair, 64);
    post_send(pair, pair.mr->lkey + 0x10000);
  });
  experiment("the lkey of a memory region of another protection domain", [](Pair& pair) {
    post_receive(pair, 64);
    post_send(pair, pair.other_mr->lkey);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "09-send-and-receive: one message between two QPs, and four ways for it to fail",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::deadline}, experiments);
}
