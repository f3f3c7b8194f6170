// Lab 10: a record that tells the path MTU as well. The task is in README.md.
//
//     ./lab check 10                 builds and checks this file
//     ./lab hint 10 1                a hint for step 1

#include "common/connect.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/exchange.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Pd = lab::Owned<ibv_pd, ibv_dealloc_pd>;
using Cq = lab::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = lab::Owned<ibv_qp, ibv_destroy_qp>;

// LID, QPN, PSN, GID and MTU: 4, 6, 6, 32 and 4 digits; four colons, and a NUL at the end.
constexpr std::size_t record_size = 57;

// What a side tells the other one.
struct Told {
  lab::Endpoint endpoint;
  unsigned mtu = 0;  // in bytes
};

// step 1
std::string write_record(const Told& told) {
  std::array<char, record_size> record{};
  const lab::Endpoint& own = told.endpoint;
  int used = std::snprintf(record.data(), record.size(), "%04x:%06x:%06x:", own.lid, own.qpn, own.psn);
  for (const std::uint8_t byte : own.gid.raw) {
    used += std::snprintf(record.data() + used, record.size() - static_cast<std::size_t>(used), "%02x", byte);
  }
  std::snprintf(record.data() + used, record.size() - static_cast<std::size_t>(used), ":%04x", told.mtu);
  return {record.data(), record.size()};
}
// end of step 1

// step 2
unsigned read_field(std::string_view record, std::size_t begin, std::size_t digits) {
  const char* const end = record.data() + begin + digits;
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(record.data() + begin, end, value, 16);
  if (error != std::errc{} || stop != end) {
    throw lab::Error{"the record is garbled from byte " + std::to_string(begin) + " on"};
  }
  return value;
}

// Reads what came from the other side. Throws lab::Error for all that is no record.
Told read_record(std::string_view record) {
  if (record.size() != record_size) {
    throw lab::Error{"the record has " + std::to_string(record.size()) + " bytes, not 57"};
  }
  if (record[4] != ':' || record[11] != ':' || record[18] != ':' || record[51] != ':' || record[56] != '\0') {
    throw lab::Error{"the record is garbled: a separator is missing"};
  }
  Told told{.endpoint = {.lid = static_cast<std::uint16_t>(read_field(record, 0, 4)),
                         .qpn = read_field(record, 5, 6),
                         .psn = read_field(record, 12, 6)},
            .mtu = read_field(record, 52, 4)};
  for (std::size_t byte = 0; byte < sizeof told.endpoint.gid.raw; ++byte) {
    told.endpoint.gid.raw[byte] = static_cast<std::uint8_t>(read_field(record, 19 + 2 * byte, 2));
  }
  static_cast<void>(lab::mtu_from_bytes(told.mtu));  // throws for what is no MTU
  return told;
}
// end of step 2

// The MTU that a side tells: what it wants, but no more than its port carries.
unsigned mtu_to_tell(unsigned wanted, const ibv_port_attr& port) {
  // step 3
  return std::min(wanted, lab::mtu_bytes(port.active_mtu));
  // end of step 3
}

// Brings a QP that is in INIT to RTS. `path` has all that is known on this side alone; its MTU is still to be set.
void connect(ibv_qp* qp, lab::Path path, const Told& own, const Told& other) {
  // step 4
  path.mtu = lab::mtu_from_bytes(std::min(own.mtu, other.mtu));
  lab::to_rtr(qp, path, other.endpoint);
  lab::to_rts(qp, own.endpoint.psn);
  // end of step 4
}

// Two sides in one process, who know nothing of each other but the records.
void meet(const lab::Options& options) {
  const lab::Device device = lab::open_device(options);
  const lab::Path path{.port = device.port, .source = lab::choose_gid(device, options)};
  std::printf("port: active MTU %u\n", lab::mtu_bytes(device.port_attr.active_mtu));
  const Pd pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const Cq cq{lab::check(ibv_create_cq(device.context.get(), 4, nullptr, nullptr, 0), "ibv_create_cq")};
  std::array<Qp, 2> qps;
  std::array<Told, 2> told;
  std::array<std::string, 2> records;
  for (std::size_t side = 0; side < 2; ++side) {
    ibv_qp_init_attr init{.send_cq = cq.get(),
                          .recv_cq = cq.get(),
                          .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    qps[side].reset(lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp"));
    lab::to_init(qps[side].get(), path);
    const auto wanted = static_cast<unsigned>(std::stoul(options.words[side]));
    told[side] = {lab::local_endpoint(device, path, qps[side].get()), mtu_to_tell(wanted, device.port_attr)};
    records[side] = write_record(told[side]);
    std::printf("%s\n%s\n", lab::endpoint_text(told[side].endpoint).c_str(), records[side].c_str());
  }
  for (std::size_t side = 0; side < 2; ++side) {
    connect(qps[side].get(), path, told[side], read_record(records[1 - side]));
  }
}

// One record a line on standard input.
void read(const lab::Options& /*options*/) {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<char> record{line.begin(), line.end()};  // these bytes and none behind them
    try {
      const Told told = read_record({record.data(), record.size()});
      std::printf("%s, MTU %u\n", lab::endpoint_text(told.endpoint).c_str(), told.mtu);
    } catch (const lab::Error& error) {
      std::printf("refused: %s\n", error.what());
    }
  }
}

void play(const lab::Options& options) {
  if (!options.words.empty() && options.words.size() != 2) {
    throw lab::Error{"two words are wanted, the MTU of each side, or none"};
  }
  options.words.empty() ? read(options) : meet(options);
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv,
                  "lab 10: two words, the MTU that each side wants: connects two QPs; no words: reads records",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::words}, play);
}
