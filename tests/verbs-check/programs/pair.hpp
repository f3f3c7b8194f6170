// What the programs about failed completions begin with: a QP, its peer in the same process, and a CQ for each of them.
// The first is tried again three times at most, so that what fails does so soon.
#pragma once

#include "loop.hpp"

struct Pair : Loop {
  lab::Owned<ibv_cq, ibv_destroy_cq> peer_cq{
      lab::check(ibv_create_cq(device.context.get(), 16, nullptr, nullptr, 0), "ibv_create_cq")};
  lab::Owned<ibv_qp, ibv_destroy_qp> peer_owner{make_peer()};
  ibv_qp* peer = peer_owner.get();
  lab::Endpoint here = lab::local_endpoint(device, path, qp);
  lab::Endpoint there = lab::local_endpoint(device, path, peer);

  ibv_qp* make_peer() const {
    ibv_qp_init_attr attr{.send_cq = peer_cq.get(),
                          .recv_cq = peer_cq.get(),
                          .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return lab::check(ibv_create_qp(pd.get(), &attr), "ibv_create_qp");
  }

  // RESET to RTS, each of them.
  void connect_here() {
    lab::to_init(qp, path);
    lab::to_rtr(qp, path, there);
    lab::to_rts(qp, here.psn, {.timeout = 8, .retry_cnt = 3, .rnr_retry = 3});
  }
  void connect_there() { connect_there(path); }
  void connect_there(const lab::Path& its_path) {
    lab::to_init(peer, its_path, IBV_ACCESS_REMOTE_WRITE);
    lab::to_rtr(peer, its_path, here);
    lab::to_rts(peer, there.psn);
  }
};

// Waits for the next completion of this CQ, and prints how it ended.
inline void show_completion_of(ibv_cq* cq) {
  const ibv_wc completion = lab::wait_completion(cq, std::chrono::seconds{10}, "a completion");
  std::printf("completion: %s\n", lab::status_text(completion.status).c_str());
}
