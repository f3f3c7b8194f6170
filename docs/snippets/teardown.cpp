// How do I tear everything down in the right order?

#include <infiniband/verbs.h>

#include <cerrno>
#include <system_error>

// What a program has made so far; nullptr: not made, or gone already.
struct Handles {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_srq* srq = nullptr;
  ibv_qp* qp = nullptr;
};

template <class T>
void destroy(T*& object, int (*verb)(T*), const char* name) {
  if (object == nullptr) {
    return;
  }
  if (const int error = verb(object); error != 0) {  // EBUSY: something that uses it is still alive
    throw std::system_error(error, std::generic_category(), name);
  }
  object = nullptr;  // a second destroy would crash
}

// Users first, then what they used. May be called again after it has thrown.
void tear_down(Handles& of) {
  destroy(of.qp, ibv_destroy_qp, "ibv_destroy_qp");
  destroy(of.srq, ibv_destroy_srq, "ibv_destroy_srq");
  destroy(of.cq, ibv_destroy_cq, "ibv_destroy_cq");
  destroy(of.channel, ibv_destroy_comp_channel, "ibv_destroy_comp_channel");
  destroy(of.mr, ibv_dereg_mr, "ibv_dereg_mr");
  destroy(of.pd, ibv_dealloc_pd, "ibv_dealloc_pd");
  if (of.context != nullptr && ibv_close_device(of.context) != 0) {  // this one returns -1
    throw std::system_error(errno, std::generic_category(), "ibv_close_device");
  }
  of.context = nullptr;
}
