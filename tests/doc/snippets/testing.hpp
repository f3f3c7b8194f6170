// What the tests of the snippets share: how a test is declared and how it fails, and two connected QPs to try things
// on.
//
// Each file includes the snippets that it runs, so every snippet is compiled as it stands in docs/snippets.
#pragma once

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing_snippets {

struct Test {
  const char* name;  // of the snippet
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  Registered(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

inline void expect(bool holds, const char* text, const char* file, int line) {
  if (!holds) {
    throw std::runtime_error(std::string{file} + ":" + std::to_string(line) + ": not so: " + text);
  }
}

// Whether `action` throws what() with `text` in it.
template <class Action>
bool throws(const std::string& text, Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return std::string{error.what()}.find(text) != std::string::npos;
  }
  return false;
}

inline std::chrono::steady_clock::time_point in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}
constexpr std::chrono::milliseconds patience{20000};  // for what will come

struct alignas(4096) Page {
  std::array<std::byte, 4096> bytes{};
};

// One side of a connection: everything that a snippet may want to use.
struct Side {
  lab::Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel;
  lab::Owned<ibv_cq, ibv_destroy_cq> cq;
  Page memory;
  lab::Owned<ibv_mr, ibv_dereg_mr> mr;
  lab::Owned<ibv_qp, ibv_destroy_qp> owner;
  ibv_qp* qp = nullptr;

  std::byte* at(std::size_t offset) { return &memory.bytes.at(offset); }
  std::uint64_t address(std::size_t offset) { return reinterpret_cast<std::uintptr_t>(at(offset)); }
  ibv_sge piece(std::size_t offset, std::size_t length) {
    return {.addr = address(offset), .length = static_cast<std::uint32_t>(length), .lkey = mr->lkey};
  }
  // Text goes to this place of the memory, and is it there?
  void put(std::size_t offset, const std::string& text) { std::memcpy(at(offset), text.data(), text.size()); }
  bool holds(std::size_t offset, const std::string& text) {
    return std::memcmp(at(offset), text.data(), text.size()) == 0;
  }
  ibv_wc wait() const { return lab::wait_completion(cq.get(), std::chrono::seconds{20}, "a completion"); }
  // A completion that is a success, of this request.
  bool completed(std::uint64_t wr_id) const {
    const ibv_wc completion = wait();
    return completion.status == IBV_WC_SUCCESS && completion.wr_id == wr_id;
  }
};

struct Pair {
  lab::Device device = lab::open_device({});
  lab::Path path = lab::make_path(device, {});
  lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  ibv_qp_cap cap{.max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64};
  Side a;
  Side b;

  explicit Pair(ibv_qp_type type = IBV_QPT_RC) {
    for (Side* const side : {&a, &b}) {
      side->channel.reset(lab::check(ibv_create_comp_channel(device.context.get()), "ibv_create_comp_channel"));
      side->cq.reset(lab::check(ibv_create_cq(device.context.get(), 80, nullptr, side->channel.get(), 0), "create_cq"));
      side->mr.reset(lab::check(ibv_reg_mr(pd.get(), side->at(0), side->memory.bytes.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                               IBV_ACCESS_REMOTE_ATOMIC),
                                "ibv_reg_mr"));
      make_qp(*side, type);
    }
  }

  void make_qp(Side& side, ibv_qp_type type, ibv_srq* srq = nullptr) const {
    ibv_qp_init_attr attr{.send_cq = side.cq.get(), .recv_cq = side.cq.get(), .srq = srq, .cap = cap, .qp_type = type};
    if (srq != nullptr) {
      attr.cap.max_recv_wr = 0;
      attr.cap.max_recv_sge = 0;
    }
    side.owner.reset(lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp"));
    side.qp = side.owner.get();
  }

  // Both to RTS.
  void connect(const lab::Persistence& persistence = {}) {
    const lab::Endpoint here = lab::local_endpoint(device, path, a.qp);
    const lab::Endpoint there = lab::local_endpoint(device, path, b.qp);
    constexpr unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    lab::to_init(a.qp, path, access);
    lab::to_init(b.qp, path, access);
    lab::to_rtr(a.qp, path, there);
    lab::to_rtr(b.qp, path, here);
    lab::to_rts(a.qp, here.psn, persistence);
    lab::to_rts(b.qp, there.psn, persistence);
  }

  // A receive and a send that nothing is wrong with.
  static void receive(Side& side, std::uint64_t wr_id, std::size_t offset, std::size_t length) {
    ibv_sge piece = side.piece(offset, length);
    ibv_recv_wr request{.wr_id = wr_id, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(side.qp, &request, &bad), "ibv_post_recv");
  }
  static void send(Side& side, std::uint64_t wr_id, std::size_t offset, std::size_t length) {
    ibv_sge piece = side.piece(offset, length);
    ibv_send_wr request{
        .wr_id = wr_id, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad = nullptr;
    lab::check_errno(ibv_post_send(side.qp, &request, &bad), "ibv_post_send");
  }
};

}  // namespace testing_snippets

using namespace testing_snippets;

#define JOINED_AGAIN(a, b) a##b
#define JOINED(a, b) JOINED_AGAIN(a, b)

// SNIPPET("name") { ... }: the test of docs/snippets/name.cpp.
#define SNIPPET(name)                                                                  \
  static void JOINED(run_, __LINE__)();                                                \
  static const Registered JOINED(registered_, __LINE__){name, JOINED(run_, __LINE__)}; \
  static void JOINED(run_, __LINE__)()
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
