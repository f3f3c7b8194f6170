// Lab 04: completion queues for a plan. The task is in README.md.
//
//     ./lab check 04                 builds and checks this file
//     ./lab hint 04 1                a hint for step 1

#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Cqs = std::map<std::string, Cq>;

// A queue pair of the plan: how deep its two queues are, and into which completion queue each of them completes.
struct PlannedQp {
  int send_depth;
  std::string send_cq;
  int receive_depth;
  std::string receive_cq;
};

using Entries = std::map<std::string, std::int64_t>;  // by the name of the completion queue

// How many entries each completion queue of the plan needs.
Entries entries_needed(const std::vector<PlannedQp>& plan) {
  // step 1
  static_cast<void>(plan);
  return {};
  // end of step 1
}

// Makes all of them. When the device cannot give one of them so many entries it is an error, and none is made.
Cqs create_all(ibv_context* context, const Entries& needed) {
  // step 2
  static_cast<void>(context);
  static_cast<void>(needed);
  return {};
  // end of step 2
}

// Prints "NAME: asked N, granted M, waiting W": how many entries were asked for, how many the queue has, and how many
// completions wait in it now. These are taken out.
void report(const std::string& name, std::int64_t asked, ibv_cq* cq) {
  // step 3
  static_cast<void>(name);
  static_cast<void>(asked);
  static_cast<void>(cq);
  // end of step 3
}

// "64@a+128@b": 64 sends that complete into a, 128 receives that complete into b.
PlannedQp parse(const std::string& word) {
  unsigned send_depth = 0;
  unsigned receive_depth = 0;
  std::array<char, 32> send_cq{};
  std::array<char, 32> receive_cq{};
  int end = 0;
  if (std::sscanf(word.c_str(), "%9u@%31[a-z]+%9u@%31[a-z]%n", &send_depth, send_cq.data(), &receive_depth,
                  receive_cq.data(), &end) != 4 ||
      std::cmp_not_equal(end, word.size()) || word.find('-') != std::string::npos) {
    throw lab::Error{"'" + word + "' is no queue pair: 64@a+128@b is one"};
  }
  return {static_cast<int>(send_depth), send_cq.data(), static_cast<int>(receive_depth), receive_cq.data()};
}

void play(const lab::Options& options) {
  std::vector<PlannedQp> plan;
  std::ranges::transform(options.words, std::back_inserter(plan), parse);
  const lab::Device device = lab::open_device(options);
  const Entries needed = entries_needed(plan);
  const Cqs cqs = create_all(device.context.get(), needed);
  for (const auto& [name, cq] : cqs) {
    report(name, needed.at(name), cq.get());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "lab 04: makes the completion queues for a plan of queue pairs",
                  {lab::Opt::ib_dev, lab::Opt::words}, play);
}
