// How do I print a GID?

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

// "::ffff:192.0.2.1": a GID has the form of an IPv6 address, and is in network byte order everywhere.
std::string gid_text(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(AF_INET6, gid.raw, text.data(), text.size()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "inet_ntop");
  }
  return text.data();
}
