// Five receives to a receive queue of four.
#include "loop.hpp"

int main() {
  Loop loop;
  loop.connect();
  ibv_sge where{.addr = loop.incoming(), .length = loop.half / 8, .lkey = loop.mr->lkey};
  ibv_recv_wr request{.sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
#ifdef CORRECTED
  constexpr std::uint64_t receives = 4;
#else
  constexpr std::uint64_t receives = 5;
#endif
  for (std::uint64_t i = 1; i <= receives; ++i) {
    request.wr_id = i;
    const int result = ibv_post_recv(loop.qp, &request, &bad);  // here: receive-queue-full
    show("ibv_post_recv", result);
    where.addr += where.length;
  }
  return 0;
}
