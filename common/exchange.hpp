/// @file
/// The address exchange: two programs tell each other over TCP what their QPs need to know, in the form of
/// ibv_rc_pingpong(1), so that either side may be that tool. Chapter 10 explains it.
///
/// One record is 52 bytes: "lid:qpn:psn:gid" in hexadecimal digits, 4, 6, 6 and 32 of them, and a NUL. The client sends
/// its record first; the server answers with its own once its QP can receive; the client ends with "done" and a NUL.
#pragma once

#include "common/connect.hpp"
#include "common/deadline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace lab {

constexpr std::size_t record_size = 52;
using Record = std::array<char, record_size>;

/// Writes an endpoint as a record. qpn and psn must fit into 24 bits.
[[nodiscard]] Record format_record(const Endpoint& endpoint);

/// Reads a record. Throws Error that names the place and what was expected there, for anything that is no record.
[[nodiscard]] Endpoint parse_record(std::span<const char, record_size> record);

/// A file descriptor with an owner.
class Descriptor {
public:
  explicit Descriptor(int number = -1) noexcept : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return number_; }

private:
  int number_;
};

/// Listens on a TCP port of this host, on all its addresses, IPv6 and IPv4. Throws VerbError, for instance when the
/// port is busy.
[[nodiscard]] Descriptor listen_on(std::uint16_t port);

/// Waits for one client. Throws Error when none comes before the deadline.
[[nodiscard]] Descriptor accept_one(const Descriptor& listener, const Deadline& deadline);

/// Connects to the server, trying again while nobody listens there. Throws Error at the deadline, or when the name is
/// unknown.
[[nodiscard]] Descriptor connect_to(const std::string& server, std::uint16_t port, const Deadline& deadline);

/// Sends all the bytes. Throws Error when the peer is gone or the deadline has passed.
void send_all(const Descriptor& socket, std::span<const char> bytes, const Deadline& deadline);

/// Receives until `bytes` is full: one recv(2) may bring less than one record. Throws Error when the peer closes
/// before, or at the deadline; the message says how much had come of `what`.
void receive_all(const Descriptor& socket, std::span<char> bytes, const Deadline& deadline, const char* what);

/// The client's side of the exchange: tells the server `local`, returns the server's endpoint. When it returns, the
/// server's QP is in RTS already. Throws Error on a peer that is silent, gone or garbled.
[[nodiscard]] Endpoint exchange_as_client(const Descriptor& socket, const Endpoint& local, const Deadline& deadline);

/// The server's side: returns the client's endpoint. `get_ready` is called with it before the answer goes out, and must
/// bring the QP to RTS: the client sends as soon as it has the answer.
Endpoint exchange_as_server(const Descriptor& socket, const Endpoint& local, const Deadline& deadline,
                            const std::function<void(const Endpoint&)>& get_ready);

/// "LID 0x0000, QPN 0x000011, PSN 0x8a1b2c, GID ::ffff:192.0.2.1": an address as the stock tools print it.
[[nodiscard]] std::string endpoint_text(const Endpoint& endpoint);

}  // namespace lab
