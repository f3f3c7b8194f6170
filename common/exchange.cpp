#include "common/exchange.hpp"

#include "common/errors.hpp"
#include "common/units.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace lab {

namespace {

// How the client ends the exchange: a word and its NUL.
constexpr std::array<char, 5> goodbye{'d', 'o', 'n', 'e', '\0'};

// The record as a reader sees it: fields of hexadecimal digits, a colon between them, a NUL at the end.
class RecordReader {
public:
  explicit RecordReader(std::span<const char, record_size> record) : record_{record} {}

  std::uint32_t field(const char* name, std::size_t digits) {
    const char* const begin = record_.data() + position_;
    const char* const end = begin + digits;
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value, 16);
    if (error != std::errc{} || stop != end) {
      complain(position_ + static_cast<std::size_t>(stop - begin), std::string{"a hexadecimal digit of the "} + name);
    }
    position_ += digits;
    return value;
  }

  void separator(char expected, const char* name) {
    if (record_[position_] != expected) {
      complain(position_, name);
    }
    ++position_;
  }

private:
  [[noreturn]] void complain(std::size_t position, const std::string& expected) const {
    std::array<char, 8> found{};
    std::snprintf(found.data(), found.size(), "0x%02x", static_cast<unsigned char>(record_[position]));
    throw Error("the peer's address record is garbled: byte " + std::to_string(position) + " is " + found.data() +
                ", expected " + expected + ". Does a program of another kind use this port?");
  }

  std::span<const char, record_size> record_;
  std::size_t position_ = 0;
};

void set_gid_word(ibv_gid& gid, std::size_t word, std::uint32_t value) {
  value = htonl(value);
  std::memcpy(gid.raw + word * sizeof value, &value, sizeof value);
}

std::uint32_t gid_word(const ibv_gid& gid, std::size_t word) {
  std::uint32_t value = 0;
  std::memcpy(&value, gid.raw + word * sizeof value, sizeof value);
  return ntohl(value);
}

// Waits until the socket is ready for `events`. False when the deadline has passed.
bool wait_for(const Descriptor& socket, short events, const Deadline& deadline) {
  pollfd entry{.fd = socket.get(), .events = events, .revents = 0};
  while (true) {
    const int ready = poll(&entry, 1, deadline.milliseconds_left());
    if (ready >= 0) {
      return ready > 0;
    }
    if (errno != EINTR) {
      throw VerbError("poll", errno, "TCP socket");
    }
  }
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string& server, std::uint16_t port) {
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int result = getaddrinfo(server.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result != 0) {
    throw Error("cannot find the server '" + server + "': " + gai_strerror(result));
  }
  return {found, &freeaddrinfo};
}

// One attempt on one address. Returns 0 or the errno value; on success `connection` is the socket.
int try_connect(const addrinfo& address, const Deadline& deadline, Descriptor& connection) {
  // Non-blocking for the attempt: connect(2) on its own waits for minutes when the host does not answer.
  Descriptor socket_{
      check_minus_one(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket")};
  if (connect(socket_.get(), address.ai_addr, address.ai_addrlen) == -1) {
    if (errno != EINPROGRESS) {
      return errno;
    }
    if (!wait_for(socket_, POLLOUT, deadline)) {
      return ETIMEDOUT;
    }
    int error = 0;
    socklen_t size = sizeof error;
    check_minus_one(getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size), "getsockopt");
    if (error != 0) {
      return error;
    }
  }
  connection = std::move(socket_);
  return 0;
}

}  // namespace

Record format_record(const Endpoint& endpoint) {
  Record record{};
  std::snprintf(record.data(), record.size(), "%04x:%06x:%06x:%08x%08x%08x%08x", endpoint.lid, endpoint.qpn & 0xffffffU,
                endpoint.psn & 0xffffffU, gid_word(endpoint.gid, 0), gid_word(endpoint.gid, 1),
                gid_word(endpoint.gid, 2), gid_word(endpoint.gid, 3));
  return record;
}

Endpoint parse_record(std::span<const char, record_size> record) {
  RecordReader reader{record};
  Endpoint endpoint;
  endpoint.lid = static_cast<std::uint16_t>(reader.field("LID", 4));
  reader.separator(':', "':' after the LID");
  endpoint.qpn = reader.field("QP number", 6);
  reader.separator(':', "':' after the QP number");
  endpoint.psn = reader.field("PSN", 6);
  reader.separator(':', "':' after the PSN");
  for (std::size_t word = 0; word < 4; ++word) {
    set_gid_word(endpoint.gid, word, reader.field("GID", 8));
  }
  reader.separator('\0', "the NUL at the end");
  return endpoint;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    close(number_);
  }
}

Descriptor listen_on(std::uint16_t port) {
  // One IPv6 socket serves IPv4 clients too; a kernel without IPv6 gets an IPv4 one.
  const int ipv6 = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Descriptor listener{ipv6 >= 0 ? ipv6 : check_minus_one(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
  const int yes = 1;
  const int no = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const std::string object = "TCP port " + std::to_string(port);
  if (ipv6 >= 0) {
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    const sockaddr_in6 any{.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
    check_minus_one(bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), "bind", object);
  } else {
    const sockaddr_in any{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {INADDR_ANY}};
    check_minus_one(bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), "bind", object);
  }
  check_minus_one(listen(listener.get(), 1), "listen", object);
  return listener;
}

Descriptor accept_one(const Descriptor& listener, const Deadline& deadline) {
  if (!wait_for(listener, POLLIN, deadline)) {
    throw Error("no client came before the deadline");
  }
  return Descriptor{check_minus_one(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept")};
}

Descriptor connect_to(const std::string& server, std::uint16_t port, const Deadline& deadline) {
  const AddressList addresses = resolve(server, port);
  int error = 0;
  while (true) {
    for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
      Descriptor connection;
      const int answer = try_connect(*address, deadline, connection);
      if (answer == 0) {
        return connection;
      }
      // An attempt that the deadline has cut short says less than the refusal before it.
      if (answer != ETIMEDOUT || error == 0) {
        error = answer;
      }
    }
    // Refused means: the host is there, the server is not there yet. Both sides are often started at the same moment.
    if (error != ECONNREFUSED || deadline.passed()) {
      throw VerbError("connect", error, "server " + server + ", TCP port " + std::to_string(port));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

void send_all(const Descriptor& socket, std::span<const char> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (!wait_for(socket, POLLOUT, deadline)) {
      throw Error("the peer takes no data from the TCP connection: it is silent");
    }
    // MSG_NOSIGNAL: a peer that is gone shall be an error message here, not a SIGPIPE.
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      throw VerbError("send", errno, "TCP connection to the peer");
    }
  }
}

void receive_all(const Descriptor& socket, std::span<char> bytes, const Deadline& deadline, const char* what) {
  std::size_t got = 0;
  const auto so_far = [&] { return std::to_string(got) + " of " + std::to_string(bytes.size()) + " bytes of " + what; };
  while (got < bytes.size()) {
    if (!wait_for(socket, POLLIN, deadline)) {
      throw Error("the peer is silent: " + so_far() + " came before the deadline");
    }
    const std::span<char> rest = bytes.subspan(got);
    const ssize_t count = recv(socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0) {
      throw Error("the peer closed the TCP connection after " + so_far() + ": look for the first error on its side");
    } else if (errno != EINTR && errno != EAGAIN) {
      throw VerbError("recv", errno, "TCP connection to the peer, after " + so_far());
    }
  }
}

Endpoint exchange_as_client(const Descriptor& socket, const Endpoint& local, const Deadline& deadline) {
  send_all(socket, format_record(local), deadline);
  Record answer{};
  receive_all(socket, answer, deadline, "the server's address record");
  const Endpoint remote = parse_record(answer);
  send_all(socket, goodbye, deadline);
  return remote;
}

Endpoint exchange_as_server(const Descriptor& socket, const Endpoint& local, const Deadline& deadline,
                            const std::function<void(const Endpoint&)>& get_ready) {
  Record request{};
  receive_all(socket, request, deadline, "the client's address record");
  const Endpoint remote = parse_record(request);
  get_ready(remote);
  send_all(socket, format_record(local), deadline);
  std::array<char, goodbye.size()> done{};
  receive_all(socket, done, deadline, "the client's \"done\"");
  return remote;
}

std::string endpoint_text(const Endpoint& endpoint) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID ", endpoint.lid, endpoint.qpn,
                endpoint.psn);
  return text.data() + gid_text(endpoint.gid);
}

}  // namespace lab
