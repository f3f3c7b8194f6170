/// @file
/// What the measurements share: an open device with memory, two QPs that are connected to each other, and the words for
/// what happened.
#pragma once

#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deviations {

using namespace std::chrono_literals;

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Srq = lab::Owned<ibv_srq, ibv_destroy_srq>;

constexpr unsigned every_right =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// The device, and memory that is registered with every right.
struct Bench {
  explicit Bench(const lab::Options& options);

  [[nodiscard]] Cq make_cq(int entries, ibv_comp_channel* channel = nullptr) const;
  [[nodiscard]] std::uint64_t address(std::size_t offset = 0) const;

  /// The asynchronous events that come: "IBV_EVENT_CQ_ERR 2 times", or "no event". Waits so long for the first one,
  /// then until there is a pause. Acknowledges them.
  [[nodiscard]] std::string events(std::chrono::milliseconds patience) const;

  lab::Device device;
  lab::Path path;
  ibv_device_attr limits{};
  Pd pd;
  mutable std::vector<char> memory;
  Mr mr;

  [[nodiscard]] ibv_context* context() const { return device.context.get(); }
};

/// How a pair of QPs is made and connected.
struct Setup {
  ibv_qp_type type = IBV_QPT_RC;
  ibv_qp_cap cap{.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1};
  int cq_entries = 64;
  unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;  ///< of both QPs
  /// 67 ms, 268 ms at most, seven times: long enough for a loaded machine, short enough to wait for the end
  lab::Persistence persistence{.timeout = 14, .retry_cnt = 6, .rnr_retry = 1};
  std::uint8_t min_rnr_timer = 12;
  std::uint8_t rd_atomic = 1;       ///< max_rd_atomic of the first
  std::uint8_t dest_rd_atomic = 1;  ///< max_dest_rd_atomic of the second
  ibv_srq* srq = nullptr;           ///< of the second
};

/// One request for the send queue.
struct Request {
  ibv_sge sge{};
  ibv_wr_opcode opcode = IBV_WR_SEND;
  unsigned flags = IBV_SEND_SIGNALED;
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  int num_sge = 1;
};

/// Posts it; returns what ibv_post_send returned.
int post_send(ibv_qp* qp, Request request, ibv_send_wr** bad = nullptr);
int post_recv(ibv_qp* qp, ibv_sge sge, int num_sge = 1);

/// Two QPs, each with a CQ of its own.
struct Pair {
  Pair(const Bench& bench, const Setup& setup);

  /// RESET to INIT, INIT to RTR, RTR to RTS, of one; all of it, or what is left after INIT, of both. Throw VerbError.
  void init(ibv_qp* qp) const;
  void rtr(ibv_qp* qp) const;
  void rts(ibv_qp* qp) const;
  void connect() const;
  void connect_from_init() const;

  const Bench& bench;
  Setup setup;
  Cq cq;       ///< of the first, which sends
  Cq peer_cq;  ///< of the second, which receives
  Qp qp;
  Qp peer;

  /// Memory with nothing wrong: to send from, to receive into.
  [[nodiscard]] ibv_sge from(std::uint32_t length = 64) const;
  [[nodiscard]] ibv_sge into(std::uint32_t length = 64) const;
  /// An RDMA write, read or atomic on the second's memory.
  [[nodiscard]] Request one_sided(ibv_wr_opcode opcode, std::uint32_t length = 8) const;

  /// Waits for the first's completion, then for a moment for the second's: "sender SUCCESS (0), receiver none".
  [[nodiscard]] std::string outcome(std::chrono::milliseconds patience = 10s) const;

private:
  [[nodiscard]] Qp make(ibv_cq* completions, ibv_srq* srq) const;
};

/// The next completion, or nothing when none comes in time.
[[nodiscard]] std::optional<ibv_wc> completion(ibv_cq* cq, std::chrono::milliseconds patience);
/// How many completions come until there is a pause.
[[nodiscard]] int completions(ibv_cq* cq, std::chrono::milliseconds pause = 200ms);

[[nodiscard]] std::string status(const std::optional<ibv_wc>& completion);  ///< "SUCCESS (0)", "none"
[[nodiscard]] std::string answer(int result);                               ///< "success", "EINVAL"
[[nodiscard]] std::string answer_of(const void* made);                      ///< of a verb that returns a pointer
[[nodiscard]] std::string joined(std::span<const std::string> parts);       ///< "a, b, c"

/// One line of what the program prints.
struct Row {
  const char* id;
  const char* done;                      ///< what the program does
  std::string (*happens)(const Bench&);  ///< does it, and says what happened
};

[[nodiscard]] std::span<const Row> objects();   ///< creating and destroying
[[nodiscard]] std::span<const Row> states();    ///< ibv_modify_qp
[[nodiscard]] std::span<const Row> requests();  ///< posting, and what is carried out
[[nodiscard]] std::span<const Row> failures();  ///< requests that are in error
[[nodiscard]] std::span<const Row> events();    ///< completion events and asynchronous events

}  // namespace deviations
