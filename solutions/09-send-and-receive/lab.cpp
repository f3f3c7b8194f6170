// Lab 09: many messages through four receives. The task is in README.md.
//
//     ./lab check 09                 builds and checks this file
//     ./lab hint 09 1                a hint for step 1

#include "common/connect.hpp"
#include "common/deadline.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

constexpr unsigned depth = 4;              // requests that each queue holds
constexpr std::uint32_t slot_size = 4096;  // bytes for one message

// Two QPs of this program, connected with each other, and a slot of memory for each request that they can hold.
struct Link {
  Link(const lab::Device& device, const lab::Path& path)
      : memory(std::size_t{2} * depth * slot_size),
        pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        mr{lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")},
        cq{lab::check(ibv_create_cq(device.context.get(), 2 * depth, nullptr, nullptr, 0), "ibv_create_cq")},
        sender{create_qp(depth, 1)},
        receiver{create_qp(1, depth)} {
    const lab::Endpoint sending = lab::local_endpoint(device, path, sender.get());
    const lab::Endpoint receiving = lab::local_endpoint(device, path, receiver.get());
    for (ibv_qp* const qp : {sender.get(), receiver.get()}) {
      lab::to_init(qp, path);
      lab::to_rtr(qp, path, qp == sender.get() ? receiving : sending);
      lab::to_rts(qp, qp == sender.get() ? sending.psn : receiving.psn);
    }
  }

  Qp create_qp(unsigned sends, unsigned receives) {
    ibv_qp_init_attr init{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return Qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};
  }

  [[nodiscard]] char* outgoing(std::size_t slot) { return memory.data() + slot * slot_size; }
  [[nodiscard]] char* incoming(std::size_t slot) { return outgoing(depth + slot); }

  std::vector<char> memory;
  Pd pd;
  Mr mr;
  Cq cq;  // for all completions of both QPs
  Qp sender;
  Qp receiver;
};

// The messages that have to get from one QP to the other.
class Messages {
public:
  explicit Messages(const std::vector<std::string>& sizes) {
    for (const std::string& size : sizes) {
      std::uint32_t bytes = 0;
      const auto [end, failed] = std::from_chars(size.data(), size.data() + size.size(), bytes);
      if (failed != std::errc{} || end != size.data() + size.size() || bytes < 1 || bytes > slot_size) {
        throw lab::Error{"'" + size + "' is no size from 1 to " + std::to_string(slot_size)};
      }
      sizes_.push_back(bytes);
    }
  }

  [[nodiscard]] std::size_t count() const { return sizes_.size(); }

  // Writes a message, of which the first has number 0, to where it is sent from; returns its length.
  [[nodiscard]] std::uint32_t write(std::size_t number, char* where) const {
    for (std::uint32_t at = 0; at < sizes_.at(number); ++at) {
      where[at] = byte(number, at);
    }
    return sizes_[number];
  }

  // Takes what was received. It has to be the next message.
  void take(const char* bytes, std::uint32_t length) {
    const std::string name = "message " + std::to_string(taken_);
    if (taken_ == count() || length != sizes_[taken_]) {
      throw lab::Error{name + ": it is not this one that came, with " + std::to_string(length) + " bytes"};
    }
    for (std::uint32_t at = 0; at < length; ++at) {
      if (bytes[at] != byte(taken_, at)) {
        throw lab::Error{name + ": byte " + std::to_string(at) + " of " + std::to_string(length) + " is wrong"};
      }
    }
    std::printf("%s: %u bytes\n", name.c_str(), length);
    ++taken_;
  }

  [[nodiscard]] std::size_t taken() const { return taken_; }

private:
  static char byte(std::size_t number, std::uint32_t at) { return static_cast<char>((number * 31 + at * 7 + 1) % 251); }

  std::vector<std::uint32_t> sizes_;
  std::size_t taken_ = 0;
};

// Posts a receive into link.incoming(slot).
void post_receive(Link& link, std::size_t slot) {
  // step 1
  ibv_sge where{
      .addr = reinterpret_cast<std::uintptr_t>(link.incoming(slot)), .length = slot_size, .lkey = link.mr->lkey};
  ibv_recv_wr request{.wr_id = slot, .sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  lab::check_errno(ibv_post_recv(link.receiver.get(), &request, &bad), "ibv_post_recv");
  // end of step 1
}

// Posts the send of a message of this length, which lies in link.outgoing(slot).
void post_send(Link& link, std::size_t slot, std::uint32_t length) {
  // step 2
  ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(link.outgoing(slot)), .length = length, .lkey = link.mr->lkey};
  ibv_send_wr request{.wr_id = depth + slot,  // so that a completion says of what kind it is
                      .sg_list = &where,
                      .num_sge = 1,
                      .opcode = IBV_WR_SEND,
                      .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(link.sender.get(), &request, &bad), "ibv_post_send");
  // end of step 2
}

// Gets all messages from the sender to the receiver; each that was received is given to messages.take().
void deliver(Link& link, Messages& messages, std::chrono::seconds patience) {
  // step 3
  for (std::size_t slot = 0; slot < depth; ++slot) {
    post_receive(link, slot);
  }
  std::size_t posted = 0;
  std::size_t acknowledged = 0;
  lab::Deadline deadline{patience};
  while (messages.taken() < messages.count() || acknowledged < messages.count()) {
    // A message needs a slot whose last send has its completion, and a receive that is posted for it.
    while (posted < messages.count() && posted < acknowledged + depth && posted < messages.taken() + depth) {
      const std::size_t slot = posted % depth;
      post_send(link, slot, messages.write(posted, link.outgoing(slot)));
      ++posted;
    }
    ibv_wc completion{};
    if (lab::check_poll(ibv_poll_cq(link.cq.get(), 1, &completion)) == 0) {
      if (deadline.passed()) {
        throw lab::Error{"no completion came for " + std::to_string(patience.count()) + " s"};
      }
      continue;
    }
    lab::check_completion(completion);
    deadline = lab::Deadline{patience};
    if (completion.wr_id < depth) {
      messages.take(link.incoming(completion.wr_id), completion.byte_len);
      post_receive(link, completion.wr_id);
    } else {
      ++acknowledged;
    }
  }
  // end of step 3
}

void play(const lab::Options& options) {
  Messages messages{options.words};
  const lab::Device device = lab::open_device(options);
  Link link{device, lab::make_path(device, options)};
  deliver(link, messages, std::chrono::seconds{options.deadline});
  std::printf("messages taken: %zu of %zu\n", messages.taken(), messages.count());
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(
      argc, argv, "lab 09: messages of the sizes that are given, through four receives",
      {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::mtu, lab::Opt::deadline, lab::Opt::words},
      play);
}
