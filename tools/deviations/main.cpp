// deviations: where does the provider of this device differ from the man pages, the specification, or from what people
// take for granted? One line for each point, with what was done and what happened:
//
//     ID: WHAT WAS DONE => WHAT HAPPENED
//
// Run:     build/tools/deviations/deviations            every point
//          build/tools/deviations/deviations ID...      only these
// The lines change from provider to provider and from kernel to kernel, not from run to run. docs/providers.md has them
// for Soft-RoCE, with what they mean.

#include "tools/deviations/bench.hpp"

#include "common/program.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>

namespace {

using deviations::Row;

// A driver that does not come back from a verb is a deviation too, but no reason to hang.
void give_up(int /*signal*/) {
  constexpr std::string_view text = "error: the deadline has passed within one measurement; see --deadline\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

std::vector<Row> every_row() {
  std::vector<Row> rows;
  for (const auto part : {deviations::objects(), deviations::states(), deviations::requests(), deviations::failures(),
                          deviations::events()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

// Those that are asked for, in the program's order; all when none is.
std::vector<Row> chosen(const std::vector<std::string>& ids) {
  std::vector<Row> rows = every_row();
  for (const std::string& id : ids) {
    if (std::ranges::none_of(rows, [&](const Row& row) { return row.id == id; })) {
      throw lab::Error("there is no measurement '" + id + "'; without arguments all are made, each under its name");
    }
  }
  if (!ids.empty()) {
    std::erase_if(rows, [&](const Row& row) { return std::ranges::find(ids, row.id) == ids.end(); });
  }
  return rows;
}

void measure(const lab::Options& options) {
  const std::vector<Row> rows = chosen(options.words);
  std::signal(SIGALRM, give_up);
  const deviations::Bench bench{options};
  utsname kernel{};
  lab::check_minus_one(uname(&kernel), "uname");
  std::printf("measured on: %s, vendor 0x%x, Linux %s\n", bench.device.name(), bench.limits.vendor_id, kernel.release);
  unsigned unmeasured = 0;
  for (const Row& row : rows) {
    alarm(options.deadline);
    std::string happened;
    try {
      happened = row.happens(bench);
    } catch (const lab::Error& error) {  // this device cannot even begin: the next line may still be of use
      happened = std::string{"not measured: "} + error.what();
      ++unmeasured;
    }
    std::printf("%s: %s => %s\n", row.id, row.done, happened.c_str());
  }
  alarm(0);
  if (unmeasured > 0) {
    throw lab::Error(std::to_string(unmeasured) + " of " + std::to_string(rows.size()) + " could not be measured");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "deviations: measures where the provider of a device differs",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::deadline, lab::Opt::words},
                  measure);
}
