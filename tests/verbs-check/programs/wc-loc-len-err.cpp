// The two sides of a connection have different path MTUs: each has taken its own.
// run wrong: --fail-completion 2=LOC_LEN_ERR
#include "pair.hpp"

int main() {
  Pair pair;
  pair.path.mtu = IBV_MTU_512;
  lab::Path path_of_peer = pair.path;
#ifndef CORRECTED
  path_of_peer.mtu = IBV_MTU_256;
#endif
  pair.connect_here();
  pair.connect_there(path_of_peer);

  std::array<char, 1024> text{};  // from the first half to the second
  const Loop::Mr mr{
      lab::check(ibv_reg_mr(pair.pd.get(), text.data(), text.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  const auto begin = reinterpret_cast<std::uintptr_t>(text.data());
  ibv_sge to{.addr = begin + 512, .length = 512, .lkey = mr->lkey};
  ibv_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  show("ibv_post_recv", ibv_post_recv(pair.peer, &receive, &bad_receive));  // here: wc-loc-len-err
  ibv_sge from{.addr = begin, .length = 512, .lkey = mr->lkey};
  ibv_send_wr send{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad_send = nullptr;
  show("ibv_post_send", ibv_post_send(pair.qp, &send, &bad_send));
  show_completion_of(pair.cq.get());
  show_completion_of(pair.peer_cq.get());
  return 0;
}
