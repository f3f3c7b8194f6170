// How do I own verbs objects with unique_ptr?

#include <infiniband/verbs.h>

#include <cstdio>
#include <memory>

// A destructor cannot throw, and a failed destroy must not pass unseen.
template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const noexcept {
    if (const int result = Destroy(object); result != 0) {
      std::fprintf(stderr, "an object could not be destroyed: %d\n", result);
    }
  }
};

template <class T, auto Destroy>
using Owned = std::unique_ptr<T, Destroyer<Destroy>>;

// Members are destroyed from the last to the first: the QP goes before all that it uses.
struct Objects {
  Owned<ibv_context, ibv_close_device> context;
  Owned<ibv_pd, ibv_dealloc_pd> pd;
  Owned<ibv_mr, ibv_dereg_mr> mr;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel;
  Owned<ibv_cq, ibv_destroy_cq> cq;
  Owned<ibv_qp, ibv_destroy_qp> qp;
};
