/// @file
/// @brief The address exchange.
///
/// Two programs tell each other over TCP what their QPs need to know, in the form of
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

/// The length of a record in bytes, its NUL included.
constexpr std::size_t record_size = 52;

/// One record, as it goes over the connection.
using Record = std::array<char, record_size>;

/// Writes an endpoint as a record.
/// @param endpoint the endpoint; of qpn and psn the lower 24 bits are written
/// @return the record
[[nodiscard]] Record format_record(const Endpoint& endpoint);

/// Reads a record. It comes from somebody else: each byte is checked.
/// @param record the bytes that were received
/// @return the endpoint
/// @throws Error for anything that is no record; the message names the place and what was expected there
[[nodiscard]] Endpoint parse_record(std::span<const char, record_size> record);

/// A file descriptor with an owner, which closes it.
class Descriptor {
public:
  /// @param number the descriptor, which is owned from now on; -1: none
  explicit Descriptor(int number = -1) noexcept : number_{number} {}
  /// @param other gives its descriptor away and has none then
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  /// @param other gets the descriptor that this one had, and closes it when it goes
  /// @return this one
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  /// @return the descriptor, which stays owned here; -1: none
  [[nodiscard]] int get() const noexcept { return number_; }

private:
  int number_;
};

/// Listens on all addresses of this host, IPv6 and IPv4. listen(2)
/// @param port TCP port number
/// @return the listening socket
/// @throws VerbError when that fails, for instance since the port is busy
[[nodiscard]] Descriptor listen_on(std::uint16_t port);

/// Waits for one client. accept(2)
/// @param listener what listen_on() has returned
/// @param deadline until when to wait
/// @return the connection
/// @throws Error when no client comes before the deadline
/// @throws VerbError when a system call fails
[[nodiscard]] Descriptor accept_one(const Descriptor& listener, const Deadline& deadline);

/// Connects to the server, trying again while nobody listens there. connect(2)
/// @param server   its name or address
/// @param port     its TCP port number
/// @param deadline until when to try
/// @return the connection
/// @throws Error when the name is unknown
/// @throws VerbError at the deadline, with the reason of the last attempt, and at once when the server's host cannot
/// be reached
[[nodiscard]] Descriptor connect_to(const std::string& server, std::uint16_t port, const Deadline& deadline);

/// Sends all the bytes. send(2)
/// @param socket   the connection
/// @param bytes    what to send
/// @param deadline until when it must have been taken
/// @throws Error when the peer takes nothing before the deadline
/// @throws VerbError when the peer is gone
void send_all(const Descriptor& socket, std::span<const char> bytes, const Deadline& deadline);

/// Receives until `bytes` is full: one recv(2) may bring less than one record.
/// @param socket   the connection
/// @param bytes    where to put what comes
/// @param deadline until when it must have come
/// @param what     what is awaited, for the message: "the server's address record"
/// @throws Error when the peer closes before, or at the deadline; the message says how much had come
/// @throws VerbError when the connection breaks
void receive_all(const Descriptor& socket, std::span<char> bytes, const Deadline& deadline, const char* what);

/// The client's side of the exchange. When it returns, the server's QP is in RTS already.
/// @param socket   the connection to the server
/// @param local    what the server is told
/// @param deadline until when all of it must be over
/// @return the server's endpoint
/// @throws Error on a peer that is silent, gone or garbled
[[nodiscard]] Endpoint exchange_as_client(const Descriptor& socket, const Endpoint& local, const Deadline& deadline);

/// The server's side of the exchange.
/// @param socket    the connection to the client
/// @param local     what the client is told
/// @param deadline  until when all of it must be over
/// @param get_ready is called with the client's endpoint before the answer goes out, and must bring the QP to RTS: the
///                  client sends as soon as it has the answer
/// @return the client's endpoint
/// @throws Error on a peer that is silent, gone or garbled; what `get_ready` throws passes through
Endpoint exchange_as_server(const Descriptor& socket, const Endpoint& local, const Deadline& deadline,
                            const std::function<void(const Endpoint&)>& get_ready);

/// An endpoint as the stock tools print it.
/// @param endpoint the endpoint
/// @return "LID 0x0000, QPN 0x000011, PSN 0x8a1b2c, GID ::ffff:192.0.2.1"
[[nodiscard]] std::string endpoint_text(const Endpoint& endpoint);

}  // namespace lab
