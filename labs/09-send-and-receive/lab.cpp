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
  static_cast<void>(link);
  static_cast<void>(slot);
  // end of step 1
}

// Posts the send of a message of this length, which lies in link.outgoing(slot).
void post_send(Link& link, std::size_t slot, std::uint32_t length) {
  // step 2
  static_cast<void>(link);
  static_cast<void>(slot);
  static_cast<void>(length);
  // end of step 2
}

// Gets all messages from the sender to the receiver; each that was received is given to messages.take().
void deliver(Link& link, Messages& messages, std::chrono::seconds patience) {
  // step 3
  static_cast<void>(patience);
  for (std::size_t number = 0; number < messages.count(); ++number) {  // not the way yet
    post_receive(link, 0);
    post_send(link, 0, messages.write(number, link.outgoing(0)));
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
