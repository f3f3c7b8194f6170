// Lab 08: two queue pairs, driven from any state to any other. The task is in README.md.
//
//     ./lab check 08                 builds and checks this file
//     ./lab hint 08 1                a hint for step 1

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
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

constexpr std::array states{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR};
constexpr std::chrono::seconds patience{5};

// The port that both QPs use, and its address: the GID, or where there is none the LID.
struct Port {
  const lab::Device& device;
  std::optional<ibv_gid_entry> gid;
};

// One of the two QPs, which are each other's peers.
struct Side {
  Qp qp;
  std::uint32_t psn;  // number of the first packet that it sends
};

// The state in which the device has the QP.
ibv_qp_state state_of(ibv_qp* qp) {
  // step 1
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  lab::check_errno(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
  return attr.qp_state;
  // end of step 1
}

// One step of the state machine: from a state from which this is allowed, with all that the step needs.
void step(const Port& port, const Side& self, const Side& peer, ibv_qp_state to) {
  // step 2
  const ibv_port_attr& port_attr = port.device.port_attr;
  ibv_qp_attr attr{.qp_state = to};
  int mask = IBV_QP_STATE;
  if (to == IBV_QPS_INIT) {
    attr.port_num = port.device.port;
    mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  } else if (to == IBV_QPS_RTR) {
    attr.path_mtu = port_attr.active_mtu;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.rq_psn = peer.psn;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;  // 0.64 ms
    attr.ah_attr = {.dlid = port_attr.lid, .port_num = port.device.port};
    if (port.gid) {
      attr.ah_attr.is_global = 1;
      attr.ah_attr.grh = {
          .dgid = port.gid->gid, .sgid_index = static_cast<std::uint8_t>(port.gid->gid_index), .hop_limit = 64};
    }
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
            IBV_QP_MIN_RNR_TIMER;
  } else if (to == IBV_QPS_RTS) {
    attr.sq_psn = self.psn;
    attr.timeout = 14;   // 67.1 ms
    attr.retry_cnt = 1;  // 7 would be without end on Soft-RoCE
    attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  lab::check_errno(ibv_modify_qp(self.qp.get(), &attr, mask), "ibv_modify_qp", lab::qp_state_name(to));
  // end of step 2
}

// Brings a QP to the state on the shortest way. One that is there already is left alone.
void go(const Port& port, const Side& self, const Side& peer, ibv_qp_state to) {
  // step 3
  for (ibv_qp_state now = state_of(self.qp.get()); now != to; now = state_of(self.qp.get())) {
    if (to == IBV_QPS_ERR) {  // from everywhere but RESET
      step(port, self, peer, now == IBV_QPS_RESET ? IBV_QPS_INIT : IBV_QPS_ERR);
    } else if (now < to) {  // the way up, one state at a time
      step(port, self, peer, static_cast<ibv_qp_state>(now + 1));
    } else {
      step(port, self, peer, IBV_QPS_RESET);
    }
  }
  // end of step 3
}

// Whatever has become of the two: afterwards they are in RTS, and a message from a to b arrives.
void recover(const Port& port, Side& a, Side& b) {
  // step 4
  // Both, also one that looks well: the numbers of its packets have gone on, and its peer's begin anew.
  go(port, a, b, IBV_QPS_RESET);
  go(port, b, a, IBV_QPS_RESET);
  go(port, a, b, IBV_QPS_RTS);
  go(port, b, a, IBV_QPS_RTS);
  // end of step 4
}

// Both QPs, and what a message needs.
struct Pair {
  explicit Pair(const lab::Options& options)
      : device{lab::open_device(options)},
        port{device, lab::choose_gid(device, options)},
        pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")},
        mr{lab::check(ibv_reg_mr(pd.get(), text.data(), sizeof text, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")},
        cq{lab::check(ibv_create_cq(device.context.get(), 4 * depth, nullptr, nullptr, 0), "ibv_create_cq")},
        a{create_qp(), 0x000100},
        b{create_qp(), 0x000800} {
    std::printf("a is QP %u, b is QP %u\n", a.qp->qp_num, b.qp->qp_num);
  }

  Qp create_qp() {
    ibv_qp_init_attr init{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return Qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};
  }

  static constexpr unsigned depth = 16;
  std::array<std::uint64_t, 2> text{};  // what a sends, and what b has received
  std::uint64_t messages = 0;
  lab::Device device;
  Port port;
  Pd pd;
  Mr mr;
  Cq cq;
  Side a;
  Side b;
};

// A message from a to b, the proof that they are connected; chapter 09 explains these verbs. Returns how it ended.
std::string send(Pair& pair) {
  if (const ibv_qp_state here = state_of(pair.a.qp.get()); here != IBV_QPS_RTS) {
    throw lab::Error{std::string{"send: a is in "} + lab::qp_state_name(here) + ", and only a QP in RTS sends"};
  }
  const ibv_qp_state there = state_of(pair.b.qp.get());
  int missing = 1;  // completions
  pair.text = {++pair.messages, 0};
  ibv_sge where{reinterpret_cast<std::uintptr_t>(&pair.text[1]), sizeof pair.text[1], pair.mr->lkey};
  if (there == IBV_QPS_RTR || there == IBV_QPS_RTS) {
    ibv_recv_wr request{.wr_id = pair.messages, .sg_list = &where, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    lab::check_errno(ibv_post_recv(pair.b.qp.get(), &request, &bad), "ibv_post_recv");
    ++missing;
  }
  where.addr = reinterpret_cast<std::uintptr_t>(&pair.text[0]);
  ibv_send_wr request{
      .wr_id = pair.messages, .sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(pair.a.qp.get(), &request, &bad), "ibv_post_send", "a");
  for (const lab::Deadline deadline{patience}; missing > 0;) {
    ibv_wc completion{};
    const int count = lab::check_poll(ibv_poll_cq(pair.cq.get(), 1, &completion));
    if (count > 0 && completion.wr_id == pair.messages) {  // what is older is from before the last RESET
      if (completion.status != IBV_WC_SUCCESS) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});  // the QP enters ERR at about this time
        return lab::status_text(completion.status);
      }
      --missing;
    } else if (count == 0 && deadline.passed()) {
      throw lab::Error{"send: a completion is still missing after " + std::to_string(patience.count()) + " s"};
    }
  }
  return pair.text[1] == pair.messages ? "it arrived" : "b has received something else";
}

void play(const lab::Options& options) {
  Pair pair{options};
  for (const std::string& word : options.words) {
    std::string how;
    if (word == "send") {
      how = send(pair) + ", ";
    } else if (word == "recover") {
      recover(pair.port, pair.a, pair.b);
    } else {
      const auto named = std::ranges::find_if(states, [&](ibv_qp_state state) {
        return word.substr(std::min<std::size_t>(word.size(), 2)) == lab::qp_state_name(state);
      });
      if (named == states.end() || !(word.starts_with("a:") || word.starts_with("b:"))) {
        throw lab::Error{"'" + word + "' is neither a:STATE nor b:STATE nor send nor recover"};
      }
      const bool is_a = word.front() == 'a';
      go(pair.port, is_a ? pair.a : pair.b, is_a ? pair.b : pair.a, *named);
    }
    std::printf("%s: %sa is in %s, b in %s\n", word.c_str(), how.c_str(), lab::qp_state_name(state_of(pair.a.qp.get())),
                lab::qp_state_name(state_of(pair.b.qp.get())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 08: two queue pairs of one program, from any state to any other",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::words}, play);
}
