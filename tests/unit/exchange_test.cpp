// common/exchange over sockets: peers that are right, late, slow, silent, gone and garbled. Loopback only.
#include "common/exchange.hpp"

#include "common/deadline.hpp"
#include "common/errors.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using lab::Deadline;
using lab::Descriptor;
using lab::Endpoint;

// For waits that must end by something else than the clock.
constexpr std::chrono::seconds long_enough{30};
// For waits that must end by the clock.
constexpr std::chrono::milliseconds short_wait{200};

const Endpoint client_end{.lid = 0, .qpn = 0x11, .psn = 0x8a1b2c};
const Endpoint server_end{.lid = 7, .qpn = 0x22, .psn = 0xffffff};

struct Pair {
  Descriptor ours;
  Descriptor theirs;
};

Pair connected_pair() {
  std::array<int, 2> numbers{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) != 0) {
    throw std::runtime_error("socketpair");
  }
  return {Descriptor{numbers[0]}, Descriptor{numbers[1]}};
}

std::string text_of(const lab::Record& record) { return {record.data(), record.size()}; }

// The tests' own peer: it writes and reads without any help of the code that is tested.
void say(const Descriptor& socket, std::string_view bytes) {
  ASSERT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

std::string hear(const Descriptor& socket, std::size_t size) {
  std::string bytes(size, '?');
  const ssize_t count = recv(socket.get(), bytes.data(), size, MSG_WAITALL);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

void hang_up(Descriptor& socket) { const Descriptor gone = std::move(socket); }

std::string receive(const Descriptor& socket, std::size_t size, std::chrono::milliseconds patience = long_enough) {
  std::string bytes(size, '?');
  lab::receive_all(socket, bytes, Deadline{patience}, "the record");
  return bytes;
}

// The message with which the action fails; empty when it does not.
std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const lab::Error& error) {
    return error.what();
  }
  return {};
}

void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "in: " << text << "\nmissing: " << part;
}

// A TCP port of which nobody else can become the listener while this object lives: bound, not yet listening.
class ReservedPort {
public:
  ReservedPort() : socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const sockaddr_in any{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
      throw std::runtime_error("bind");
    }
  }
  [[nodiscard]] const Descriptor& socket_of() const { return socket_; }
  void start_listening(int backlog = 1) const { ASSERT_EQ(listen(socket_.get(), backlog), 0); }

private:
  Descriptor socket_;
};

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin6_port);  // the IPv4 form has it at the same place
}

bool is_open(int number) { return fcntl(number, F_GETFD) != -1; }

TEST(Descriptor, ClosesWhatItOwns) {
  int number = -1;
  {
    const Descriptor owner{dup(STDERR_FILENO)};
    number = owner.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, HandsOverWhatItOwns) {
  Descriptor first{dup(STDERR_FILENO)};
  const int number = first.get();
  Descriptor second{std::move(first)};
  EXPECT_EQ(first.get(), -1);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(second.get(), number);
  {
    Descriptor third;
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(ReceiveAll, TakesWhatComesAtOnce) {
  const Pair pair = connected_pair();
  const std::string record = text_of(lab::format_record(client_end));
  say(pair.theirs, record);
  EXPECT_EQ(receive(pair.ours, record.size()), record);
}

TEST(ReceiveAll, PutsSingleBytesTogether) {
  const Pair pair = connected_pair();
  const std::string record = text_of(lab::format_record(client_end));
  const std::jthread peer{[&] {
    for (const char byte : record) {
      say(pair.theirs, {&byte, 1});
      std::this_thread::sleep_for(1ms);
    }
  }};
  EXPECT_EQ(receive(pair.ours, record.size()), record);
}

TEST(ReceiveAll, LeavesWhatIsBehindTheRecord) {
  const Pair pair = connected_pair();
  say(pair.theirs, text_of(lab::format_record(client_end)) + "and more");
  EXPECT_EQ(receive(pair.ours, lab::record_size), text_of(lab::format_record(client_end)));
  EXPECT_EQ(hear(pair.ours, 8), "and more");
}

TEST(ReceiveAll, SaysHowMuchHadComeWhenThePeerCloses) {
  for (const std::size_t sent : {0U, 1U, 20U, 51U}) {
    Pair pair = connected_pair();
    say(pair.theirs, std::string(sent, '0'));
    hang_up(pair.theirs);
    expect_contains(failure_of([&] { receive(pair.ours, lab::record_size); }),
                    "the peer closed the TCP connection after " + std::to_string(sent) + " of 52 bytes of the record");
  }
}

TEST(ReceiveAll, EndsAtTheDeadlineWhenThePeerIsSilent) {
  const Pair pair = connected_pair();
  say(pair.theirs, std::string(51, '0'));
  const auto begin = Deadline::Clock::now();
  EXPECT_EQ(failure_of([&] { receive(pair.ours, lab::record_size, short_wait); }),
            "the peer is silent: 51 of 52 bytes of the record came before the deadline");
  EXPECT_GE(Deadline::Clock::now() - begin, short_wait);
}

// The deadline is one for the whole record, not for each byte of it.
TEST(ReceiveAll, EndsAtTheDeadlineWhenThePeerTrickles) {
  Pair pair = connected_pair();
  const std::jthread peer{[&](const std::stop_token& stop) {
    while (!stop.stop_requested() && send(pair.theirs.get(), "0", 1, MSG_NOSIGNAL) == 1) {
      std::this_thread::sleep_for(20ms);
    }
  }};
  expect_contains(failure_of([&] { receive(pair.ours, lab::record_size, short_wait); }),
                  " of 52 bytes of the record came before the deadline");
}

TEST(ReceiveAll, NamesAReset) {
  const Descriptor listener = lab::listen_on(0);
  const Descriptor client = lab::connect_to("127.0.0.1", port_of(listener), Deadline{long_enough});
  Descriptor server = lab::accept_one(listener, Deadline{long_enough});
  say(server, "0000:");
  ASSERT_EQ(receive(client, 1), "0");
  const linger at_once{.l_onoff = 1, .l_linger = 0};  // makes close(2) send a reset
  ASSERT_EQ(setsockopt(server.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  hang_up(server);
  expect_contains(failure_of([&] { receive(client, lab::record_size); }), "recv: ECONNRESET");
}

TEST(SendAll, APeerThatIsGoneIsAnErrorAndNoSignal) {
  Pair pair = connected_pair();
  hang_up(pair.theirs);
  expect_contains(failure_of([&] { lab::send_all(pair.ours, std::array{'x'}, Deadline{long_enough}); }), "send: EPIPE");
}

TEST(SendAll, EndsAtTheDeadlineWhenThePeerTakesNothing) {
  const Pair pair = connected_pair();
  const std::vector<char> more_than_fits(std::size_t{64} << 20U);
  expect_contains(failure_of([&] { lab::send_all(pair.ours, more_than_fits, Deadline{short_wait}); }),
                  "the peer takes no data");
}

TEST(SendAll, SendsMoreThanTheSocketHolds) {
  const Pair pair = connected_pair();
  const std::string sent(std::size_t{4} << 20U, 'x');
  const std::jthread peer{[&] { lab::send_all(pair.theirs, sent, Deadline{long_enough}); }};
  EXPECT_TRUE(receive(pair.ours, sent.size()) == sent);
}

void expect_same(const Endpoint& a, const Endpoint& b) { EXPECT_EQ(lab::endpoint_text(a), lab::endpoint_text(b)); }

TEST(Exchange, EachSideLearnsTheOther) {
  const Pair pair = connected_pair();
  std::atomic<bool> ready{false};
  Endpoint client_at_server;
  Endpoint told_to_get_ready;
  {
    const std::jthread server{[&] {
      client_at_server =
          lab::exchange_as_server(pair.theirs, server_end, Deadline{long_enough}, [&](const Endpoint& remote) {
            told_to_get_ready = remote;
            std::this_thread::sleep_for(50ms);
            ready = true;
          });
    }};
    expect_same(lab::exchange_as_client(pair.ours, client_end, Deadline{long_enough}), server_end);
    EXPECT_TRUE(ready) << "the client had its answer before the server was ready";
  }
  expect_same(client_at_server, client_end);
  expect_same(told_to_get_ready, client_end);
}

TEST(Exchange, AsClientSaysWhatTheStockServerExpects) {
  const Pair pair = connected_pair();
  std::string request;
  std::string goodbye;
  {
    const std::jthread stock_server{[&] {
      request = hear(pair.theirs, lab::record_size);
      say(pair.theirs, text_of(lab::format_record(server_end)));
      goodbye = hear(pair.theirs, 5);
    }};
    expect_same(lab::exchange_as_client(pair.ours, client_end, Deadline{long_enough}), server_end);
  }
  EXPECT_EQ(request, text_of(lab::format_record(client_end)));
  EXPECT_EQ(goodbye, std::string("done\0", 5));
}

TEST(Exchange, AsServerSaysWhatTheStockClientExpects) {
  const Pair pair = connected_pair();
  std::string answer;
  {
    const std::jthread stock_client{[&] {
      say(pair.theirs, text_of(lab::format_record(client_end)));
      answer = hear(pair.theirs, lab::record_size);
      say(pair.theirs, std::string_view{"done\0", 5});
    }};
    expect_same(lab::exchange_as_server(pair.ours, server_end, Deadline{long_enough}, [](const Endpoint&) {}),
                client_end);
  }
  EXPECT_EQ(answer, text_of(lab::format_record(server_end)));
}

TEST(Exchange, AsClientRefusesGarbage) {
  const Pair pair = connected_pair();
  say(pair.theirs, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  expect_contains(
      failure_of([&] { static_cast<void>(lab::exchange_as_client(pair.ours, client_end, Deadline{long_enough})); }),
      "byte 0 is 0x48, expected a hexadecimal digit of the LID");
}

void be_server(const Descriptor& socket, const std::function<void(const Endpoint&)>& get_ready,
               std::chrono::milliseconds patience = long_enough) {
  lab::exchange_as_server(socket, server_end, Deadline{patience}, get_ready);
}

void must_not_be_called(const Endpoint& /*remote*/) { ADD_FAILURE() << "get_ready was called"; }

TEST(Exchange, AsServerRefusesGarbageAndAnswersNothing) {
  Pair pair = connected_pair();
  say(pair.theirs, "GET / HTTP/1.1\r\nHost: 192.0.2.1:18515\r\nAccept: */*\r\n\r\n");
  expect_contains(failure_of([&] { be_server(pair.ours, must_not_be_called); }), "byte 0 is 0x47");
  hang_up(pair.ours);
  EXPECT_EQ(hear(pair.theirs, 1), "");
}

TEST(Exchange, AsServerRefusesHalfARecord) {
  Pair pair = connected_pair();
  say(pair.theirs, "0000:000011:");
  hang_up(pair.theirs);
  expect_contains(failure_of([&] { be_server(pair.ours, must_not_be_called); }),
                  "after 12 of 52 bytes of the client's address record");
}

TEST(Exchange, AsServerEndsAtTheDeadlineWhenTheClientIsSilent) {
  const Pair pair = connected_pair();
  expect_contains(failure_of([&] { be_server(pair.ours, must_not_be_called, short_wait); }),
                  "the peer is silent: 0 of 52 bytes of the client's address record");
}

TEST(Exchange, AsServerAnswersNothingWhenItCannotGetReady) {
  Pair pair = connected_pair();
  say(pair.theirs, text_of(lab::format_record(client_end)));
  EXPECT_EQ(failure_of([&] { be_server(pair.ours, [](const Endpoint&) { throw lab::Error("not ready"); }); }),
            "not ready");
  hang_up(pair.ours);
  EXPECT_EQ(hear(pair.theirs, 1), "");
}

TEST(Exchange, AsServerMissesTheGoodbye) {
  Pair pair = connected_pair();
  say(pair.theirs, text_of(lab::format_record(client_end)) + "do");
  // Only its sending direction: the answer must still find a reader.
  ASSERT_EQ(shutdown(pair.theirs.get(), SHUT_WR), 0);
  expect_contains(failure_of([&] { be_server(pair.ours, [](const Endpoint&) {}); }),
                  "after 2 of 5 bytes of the client's \"done\"");
}

TEST(Exchange, AsClientEndsAtTheDeadlineWhenTheServerIsSilent) {
  const Pair pair = connected_pair();
  expect_contains(
      failure_of([&] { static_cast<void>(lab::exchange_as_client(pair.ours, client_end, Deadline{short_wait})); }),
      "the peer is silent: 0 of 52 bytes of the server's address record");
}

TEST(ListenOn, ABusyPortIsNamed) {
  const Descriptor listener = lab::listen_on(0);
  const std::uint16_t port = port_of(listener);
  try {
    const Descriptor second = lab::listen_on(port);
    FAIL() << "two listeners on port " << port;
  } catch (const lab::VerbError& error) {
    EXPECT_EQ(error.code(), EADDRINUSE);
    expect_contains(error.what(), "TCP port " + std::to_string(port));
    expect_contains(error.what(), "choose another one with -p");
  }
}

TEST(ListenOn, APortIsFreeAgainAtOnce) {
  std::uint16_t port = 0;
  {
    const Descriptor listener = lab::listen_on(0);
    port = port_of(listener);
    const Descriptor client = lab::connect_to("127.0.0.1", port, Deadline{long_enough});
    // The side that closes first keeps the port busy for a minute, unless SO_REUSEADDR says otherwise.
    const Descriptor server = lab::accept_one(listener, Deadline{long_enough});
    ASSERT_EQ(shutdown(server.get(), SHUT_RDWR), 0);
    ASSERT_EQ(hear(client, 1), "");
  }
  EXPECT_EQ(failure_of([&] { const Descriptor again = lab::listen_on(port); }), "");
}

TEST(ListenOn, ServesIPv4AndNames) {
  for (const char* const name : {"127.0.0.1", "localhost"}) {
    const Descriptor listener = lab::listen_on(0);
    const Descriptor client = lab::connect_to(name, port_of(listener), Deadline{long_enough});
    const Descriptor server = lab::accept_one(listener, Deadline{long_enough});
    say(client, "hello");
    EXPECT_EQ(receive(server, 5), "hello") << name;
  }
}

TEST(AcceptOne, EndsAtTheDeadlineWhenNobodyComes) {
  const Descriptor listener = lab::listen_on(0);
  const auto begin = Deadline::Clock::now();
  EXPECT_EQ(failure_of([&] { static_cast<void>(lab::accept_one(listener, Deadline{short_wait})); }),
            "no client came before the deadline");
  EXPECT_GE(Deadline::Clock::now() - begin, short_wait);
}

TEST(ConnectTo, AnUnknownNameIsNamed) {
  expect_contains(
      failure_of([] { static_cast<void>(lab::connect_to("no-such-host.invalid", 18515, Deadline{long_enough})); }),
      "cannot find the server 'no-such-host.invalid': ");
}

TEST(ConnectTo, TriesUntilTheDeadlineWhenNobodyListens) {
  const ReservedPort reserved;
  const std::uint16_t port = port_of(reserved.socket_of());
  const auto begin = Deadline::Clock::now();
  const std::string failure =
      failure_of([&] { static_cast<void>(lab::connect_to("127.0.0.1", port, Deadline{short_wait})); });
  EXPECT_GE(Deadline::Clock::now() - begin, short_wait);
  expect_contains(failure, "connect: ECONNREFUSED");
  expect_contains(failure, "server 127.0.0.1, TCP port " + std::to_string(port));
  expect_contains(failure, "start the server first");
}

// As behind a firewall that drops what it does not like: the kernel of a listener whose queue is full answers nothing.
TEST(ConnectTo, EndsAtTheDeadlineWhenTheHostDoesNotAnswer) {
  const ReservedPort reserved;
  reserved.start_listening(0);
  const std::uint16_t port = port_of(reserved.socket_of());
  const Descriptor fills_the_queue = lab::connect_to("127.0.0.1", port, Deadline{long_enough});
  const auto begin = Deadline::Clock::now();
  expect_contains(failure_of([&] { static_cast<void>(lab::connect_to("127.0.0.1", port, Deadline{short_wait})); }),
                  "connect: ETIMEDOUT");
  EXPECT_GE(Deadline::Clock::now() - begin, short_wait);
}

TEST(ConnectTo, FindsAServerThatStartsLater) {
  const ReservedPort reserved;
  const std::jthread server{[&] {
    std::this_thread::sleep_for(short_wait);
    reserved.start_listening();
  }};
  const std::uint16_t port = port_of(reserved.socket_of());
  EXPECT_EQ(failure_of([&] { const Descriptor client = lab::connect_to("127.0.0.1", port, Deadline{long_enough}); }),
            "");
}

}  // namespace
