// 57 bytes of private data in a connection request that has room for 56.
#include "cm.hpp"

int main() {
  Manager cm;
  cm.listen();
  cm.resolve();
  Manager::make_qp(cm.id);
  const std::array<char, 57> data{};
#ifdef CORRECTED
  const std::uint8_t length = 56;
#else
  const std::uint8_t length = 57;
#endif
  rdma_conn_param param{.private_data = data.data(), .private_data_len = length};
  const int result = rdma_connect(cm.id, &param);  // here: cm-private-data-too-long
  show("rdma_connect", result);
  if (result == 0) {
    cm.accept();
  }
  cm.finish();
  return 0;
}
