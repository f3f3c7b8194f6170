// How do I use verbs in a program that forks?

#include <infiniband/verbs.h>

#include <system_error>

// At the start of main, before the first memory is registered.
void prepare_for_fork() {
  if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED) {
    return;  // this kernel copies registered pages for the child when it forks
  }
  if (const int error = ibv_fork_init(); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_fork_init");
  }
}
