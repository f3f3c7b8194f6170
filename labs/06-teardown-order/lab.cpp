// Lab 06: eight objects go, by hand and by themselves. The task is in README.md.
//
//     ./lab check 06                 builds and checks this file
//     ./lab hint 06 1                a hint for step 1

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace {

using Channel = lab::Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Mr = lab::Owned<ibv_mr, ibv_dereg_mr>;
using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;
using Srq = lab::Owned<ibv_srq, ibv_destroy_srq>;

std::array<std::byte, 4096> buffer{};

// Make one object each. They throw when the verb fails; whoever calls them owns what they return.
ibv_comp_channel* new_channel(ibv_context* context) {
  return lab::check(ibv_create_comp_channel(context), "ibv_create_comp_channel");
}

ibv_cq* new_cq(ibv_context* context, ibv_comp_channel* channel) {
  return lab::check(ibv_create_cq(context, 32, nullptr, channel, 0), "ibv_create_cq");
}

ibv_pd* new_pd(ibv_context* context) { return lab::check(ibv_alloc_pd(context), "ibv_alloc_pd"); }

ibv_mr* new_mr(ibv_pd* pd) { return lab::check(ibv_reg_mr(pd, buffer.data(), buffer.size(), 0), "ibv_reg_mr"); }

ibv_srq* new_srq(ibv_pd* pd) {
  ibv_srq_init_attr attr{.attr = {.max_wr = 16, .max_sge = 1}};
  return lab::check(ibv_create_srq(pd, &attr), "ibv_create_srq");
}

ibv_qp* new_qp(ibv_pd* pd, ibv_cq* send_cq, ibv_cq* recv_cq, ibv_srq* srq) {
  ibv_qp_init_attr attr{.send_cq = send_cq, .recv_cq = recv_cq, .srq = srq};
  attr.cap = {.max_send_wr = 16, .max_send_sge = 1};
  attr.qp_type = IBV_QPT_RC;
  return lab::check(ibv_create_qp(pd, &attr), "ibv_create_qp");
}

// The eight objects, by hand: a null pointer where one is not there.
struct Objects {
  ibv_comp_channel* channel = nullptr;
  ibv_cq* recv_cq = nullptr;  // its completions are announced on the channel,
  ibv_cq* send_cq = nullptr;  // those of this one are not
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_srq* srq = nullptr;
  std::array<ibv_qp*, 2> qps{};  // both use both CQs and the SRQ
};

// Destroys one object, if it is there. A verb that fails is reported with lab::report_failed_destroy, which makes the
// exit status 1, and keeps no other object from being destroyed.
template <auto Destroy, class T>
void destroy(T* object) {
  // step 1
  static_cast<void>(Destroy(object));
  // end of step 1
}

// Destroys those of the eight that are there, in an order that no verb refuses.
void destroy_all(const Objects& all) {
  // step 2
  destroy<ibv_destroy_comp_channel>(all.channel);
  destroy<ibv_destroy_cq>(all.recv_cq);
  destroy<ibv_destroy_cq>(all.send_cq);
  destroy<ibv_dealloc_pd>(all.pd);
  destroy<ibv_dereg_mr>(all.mr);
  destroy<ibv_destroy_srq>(all.srq);
  for (ibv_qp* const qp : all.qps) {
    destroy<ibv_destroy_qp>(qp);
  }
  // end of step 2
}

void by_hand(ibv_context* context) {
  Objects all;
  try {
    all.channel = new_channel(context);
    all.recv_cq = new_cq(context, all.channel);
    all.send_cq = new_cq(context, nullptr);
    all.pd = new_pd(context);
    all.mr = new_mr(all.pd);
    all.srq = new_srq(all.pd);
    for (ibv_qp*& qp : all.qps) {
      qp = new_qp(all.pd, all.send_cq, all.recv_cq, all.srq);
    }
  } catch (const lab::Error&) {
    destroy_all(all);
    throw;
  }
  destroy_all(all);
}

// The eight objects with owners: where this goes, they go, and nobody says in which order.
// step 3
struct OwnedObjects {
  std::array<Qp, 2> qps;
  Channel channel;
  Mr mr;
  Pd pd;
  Cq recv_cq;
  Cq send_cq;
  Srq srq;
};
// end of step 3

// Makes all eight. When one of them cannot be made, those before it go.
OwnedObjects make_owned(ibv_context* context) {
  // step 4
  OwnedObjects all;
  static_cast<void>(context);
  return all;
  // end of step 4
}

void tear_down(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  for (const std::string& word : options.words) {
    if (word == "by-hand") {
      by_hand(device.context.get());
    } else if (word == "by-owners") {
      const OwnedObjects all = make_owned(device.context.get());
    } else {
      throw lab::Error{"'" + word + "' is neither by-hand nor by-owners"};
    }
    std::printf("%s: made and destroyed\n", word.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 06: eight objects are made and destroyed, by hand or by their owners",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::words}, tear_down);
}
