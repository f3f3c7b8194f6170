// What the tests of the two sides of rdma_cm share. Each side is a file of its own, as the snippets are.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <string>

// The IPv4 address of the first RDMA device.
std::string own_address();

// The server of the test: listens, says on which port, takes one client, receives its message, answers, ends.
class Server {
public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  [[nodiscard]] std::uint16_t port() const;
  void serve();

private:
  struct Parts;
  Parts* parts_;
};

// Ends the connection from either side.
void disconnect(rdma_cm_id* id);
