// 10-connection-exchange: how do two QPs on two hosts learn of each other?
//
// Verbs:   none that are new; what is new is what the two programs tell each other, and in which order
// Run:     ./lab run 10                                     the server on one host, the client on the other
//          ./lab exec server -- build/chapters/10-connection-exchange              by hand: the server,
//          ./lab exec client -- build/chapters/10-connection-exchange server       and the client elsewhere
// Expect:  both sides print both addresses and the record as it goes over TCP; one message goes each way.

#include "common/completion.hpp"
#include "common/connect.hpp"
#include "common/deadline.hpp"
#include "common/device.hpp"
#include "common/errors.hpp"
#include "common/exchange.hpp"
#include "common/owned.hpp"
#include "common/program.hpp"
#include "common/units.hpp"

#include <infiniband/verbs.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t text_size = 64;

// The record is text: four fields in hexadecimal digits, a colon between them, a NUL behind them; always 52 bytes.
// Text has no byte order: nobody has to ask whether a number on the wire is in network or host order.
std::array<char, 52> write_record(const lab::Endpoint& endpoint) {
  std::array<char, 52> record{};
  int used = std::snprintf(record.data(), record.size(), "%04x:%06x:%06x:", endpoint.lid, endpoint.qpn, endpoint.psn);
  for (const std::uint8_t byte : endpoint.gid.raw) {
    used += std::snprintf(record.data() + used, record.size() - static_cast<std::size_t>(used), "%02x", byte);
  }
  return record;
}

// What comes from outside is checked: a field that is not hexadecimal to its last digit ends the program here, and not
// as a QP that is connected to nowhere.
template <class Number>
Number read_field(std::string_view record, std::size_t begin, std::size_t digits) {
  const std::string_view field = record.substr(begin, digits);
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value, 16);
  if (error != std::errc{} || stop != field.data() + field.size()) {
    throw lab::Error("the peer's record is garbled at byte " + std::to_string(begin));
  }
  return static_cast<Number>(value);
}

lab::Endpoint read_record(std::string_view record) {
  if (record[4] != ':' || record[11] != ':' || record[18] != ':' || record[51] != '\0') {
    throw lab::Error("the peer's record is garbled: a separator is missing");
  }
  lab::Endpoint endpoint{.lid = read_field<std::uint16_t>(record, 0, 4),
                         .qpn = read_field<std::uint32_t>(record, 5, 6),
                         .psn = read_field<std::uint32_t>(record, 12, 6)};
  for (std::size_t byte = 0; byte < sizeof endpoint.gid.raw; ++byte) {
    endpoint.gid.raw[byte] = read_field<std::uint8_t>(record, 19 + 2 * byte, 2);
  }
  return endpoint;
}

void print_address(const char* side, const lab::Endpoint& endpoint) {
  std::printf("%s address: LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s\n", side, endpoint.lid, endpoint.qpn,
              endpoint.psn, lab::gid_text(endpoint.gid).c_str());
}

void connect_qp(ibv_qp* qp, const lab::Path& path, const lab::Endpoint& local, const lab::Endpoint& remote) {
  lab::to_rtr(qp, path, remote);
  lab::to_rts(qp, local.psn);
}

// The server answers only when its QP is in RTS. That is the promise on which the client may send at once.
void be_server(ibv_qp* qp, const lab::Path& path, const lab::Endpoint& local, std::uint16_t port,
               const lab::Deadline& deadline) {
  const lab::Descriptor listener = lab::listen_on(port);
  const lab::Descriptor client = lab::accept_one(listener, deadline);
  std::array<char, 52> record{};
  lab::receive_all(client, record, deadline, "the client's record");
  const lab::Endpoint remote = read_record({record.data(), record.size()});
  print_address("remote", remote);
  connect_qp(qp, path, local, remote);
  lab::send_all(client, write_record(local), deadline);
  std::array<char, 5> done{};
  lab::receive_all(client, done, deadline, "the client's \"done\"");
}

void be_client(ibv_qp* qp, const lab::Path& path, const lab::Endpoint& local, const lab::Options& options,
               const lab::Deadline& deadline) {
  const lab::Descriptor server = lab::connect_to(options.server, options.port, deadline);
  lab::send_all(server, write_record(local), deadline);
  std::array<char, 52> record{};
  lab::receive_all(server, record, deadline, "the server's record");
  const lab::Endpoint remote = read_record({record.data(), record.size()});
  print_address("remote", remote);
  lab::send_all(server, std::array{'d', 'o', 'n', 'e', '\0'}, deadline);
  connect_qp(qp, path, local, remote);
}

void send_text(ibv_qp* qp, ibv_mr* mr, std::string_view text) {
  char* const outgoing = static_cast<char*>(mr->addr);
  text.copy(outgoing, text_size);
  ibv_sge where{.addr = reinterpret_cast<std::uintptr_t>(outgoing),
                .length = static_cast<std::uint32_t>(text.size()),
                .lkey = mr->lkey};
  ibv_send_wr request{.sg_list = &where, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  ibv_send_wr* bad = nullptr;
  lab::check_errno(ibv_post_send(qp, &request, &bad), "ibv_post_send");
}

void exchange(const lab::Options& options) {
  const bool is_server = options.server.empty();
  const std::chrono::seconds patience{options.deadline};
  const lab::Deadline deadline{patience};
  const lab::Device device = lab::open_device(options);
  const lab::Path path = lab::make_path(device, options);

  std::array<char, 2 * text_size> memory{};  // the first half goes out, the second half comes in
  const lab::Owned<ibv_pd, ibv_dealloc_pd> pd{lab::check(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
  const lab::Owned<ibv_mr, ibv_dereg_mr> mr{
      lab::check(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  // One CQ a direction: so each wait below knows what it waits for.
  const lab::Owned<ibv_cq, ibv_destroy_cq> send_cq{
      lab::check(ibv_create_cq(device.context.get(), 1, nullptr, nullptr, 0), "ibv_create_cq")};
  const lab::Owned<ibv_cq, ibv_destroy_cq> recv_cq{
      lab::check(ibv_create_cq(device.context.get(), 1, nullptr, nullptr, 0), "ibv_create_cq")};
  ibv_qp_init_attr init{.send_cq = send_cq.get(),
                        .recv_cq = recv_cq.get(),
                        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                        .qp_type = IBV_QPT_RC};
  const lab::Owned<ibv_qp, ibv_destroy_qp> qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};

  // The receive is posted before anybody learns our address, so no message can come too early.
  lab::to_init(qp.get(), path);
  ibv_sge where{
      .addr = reinterpret_cast<std::uintptr_t>(memory.data() + text_size), .length = text_size, .lkey = mr->lkey};
  ibv_recv_wr receive{.sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  lab::check_errno(ibv_post_recv(qp.get(), &receive, &bad), "ibv_post_recv");

  const lab::Endpoint local = lab::local_endpoint(device, path, qp.get());
  print_address("local ", local);
  std::printf("local  record:  %s\n", write_record(local).data());
  if (is_server) {
    be_server(qp.get(), path, local, options.port, deadline);
  } else {
    be_client(qp.get(), path, local, options, deadline);
    send_text(qp.get(), mr.get(), "the client was here");
  }

  const ibv_wc received = lab::wait_completion(recv_cq.get(), patience, "the peer's message");
  lab::check_completion(received);
  std::printf("received %u bytes: \"%.*s\"\n", received.byte_len, static_cast<int>(received.byte_len),
              memory.data() + text_size);
  if (is_server) {
    send_text(qp.get(), mr.get(), "the server has seen it");
  }
  // Without this wait the QP could go before the peer has the message.
  lab::check_completion(lab::wait_completion(send_cq.get(), patience, "the acknowledgement of our message"));
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, "10-connection-exchange: two QPs on two hosts find each other and swap a message",
                  {lab::Opt::ib_dev, lab::Opt::ib_port, lab::Opt::gid_idx, lab::Opt::port, lab::Opt::mtu, lab::Opt::sl,
                   lab::Opt::deadline, lab::Opt::server},
                  exchange);
}
