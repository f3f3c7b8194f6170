// A PD is made on the device of a cm_id that has no device yet.
#include "cm.hpp"

int main() {
  Manager cm;
  cm.ask_address();
#ifdef CORRECTED
  cm.next();
#endif
  ibv_pd* const pd = ibv_alloc_pd(cm.id->verbs);  // here: cm-id-not-bound
  show("ibv_alloc_pd", pd != nullptr ? 0 : -1);
  if (pd != nullptr) {
    ibv_dealloc_pd(pd);
  }
  cm.finish();
  return 0;
}
