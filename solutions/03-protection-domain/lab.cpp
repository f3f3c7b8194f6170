// Lab 03: a protection domain for each tenant. The task is in README.md.
//
//     ./lab check 03                 builds and checks this file
//     ./lab hint 03 1                a hint for step 1

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;

constexpr std::size_t buffer_size = 4096;

// What a tenant owns: a protection domain of its own, a buffer, and the memory region of this buffer in this domain.
// step 1
struct Tenant {
  std::vector<char> buffer;
  Pd pd;
  Mr mr;  // after pd, so that it goes before it
};
// end of step 1

using Tenants = std::map<std::string, Tenant>;

// A tenant comes. One who is here already is an error.
void come(ibv_context* context, Tenants& tenants, const std::string& name) {
  // step 2
  if (tenants.contains(name)) {
    throw lab::Error{name + " is here already"};
  }
  Tenant tenant;
  tenant.buffer.resize(buffer_size);
  tenant.pd.reset(lab::check(ibv_alloc_pd(context), "ibv_alloc_pd", name));
  tenant.mr.reset(
      lab::check(ibv_reg_mr(tenant.pd.get(), tenant.buffer.data(), tenant.buffer.size(), IBV_ACCESS_LOCAL_WRITE),
                 "ibv_reg_mr", name));
  tenants.emplace(name, std::move(tenant));
  // end of step 2
}

// A tenant goes, and what it owned is gone before this returns. One who is not here is an error.
void go(Tenants& tenants, const std::string& name) {
  // step 3
  if (tenants.erase(name) == 0) {
    throw lab::Error{name + " is not here"};
  }
  // end of step 3
}

void play(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  Tenants tenants;
  for (const std::string& word : options.words) {
    if (word.starts_with("come:")) {
      come(device.context.get(), tenants, word.substr(5));
    } else if (word.starts_with("go:")) {
      go(tenants, word.substr(3));
    } else {
      throw lab::Error{"'" + word + "' is neither come:NAME nor go:NAME"};
    }
    std::printf("%s, tenants here: %zu\n", word.c_str(), tenants.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 03: tenants come and go, each with a protection domain of its own",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::words}, play);
}
