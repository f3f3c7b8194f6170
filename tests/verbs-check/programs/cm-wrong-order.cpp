// The route is asked for before the answer about the address was read.
#include "cm.hpp"

int main() {
  Manager cm;
  cm.ask_address();
#ifdef CORRECTED
  cm.next();
#endif
  const int result = rdma_resolve_route(cm.id, 2000);  // here: cm-wrong-order
  show("rdma_resolve_route", result);
  cm.next();
  cm.finish();
  return 0;
}
