// How do I keep a sender from running ahead of the receives?

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <system_error>

// At the sender: how many messages the peer has receives for.
class Credits {
public:
  explicit Credits(std::uint32_t receives) : left_{receives} {}
  [[nodiscard]] bool take() { return left_ > 0 && left_-- > 0; }  // false: wait for the peer
  void add(std::uint32_t receives) { left_ += receives; }         // what a message of the peer has brought

private:
  std::uint32_t left_;
};

// At the receiver: receives that were posted again, and of which the sender does not know.
class Owed {
public:
  explicit Owed(std::uint32_t batch) : batch_{batch} {}
  // After each receive that was posted again: how many to tell the sender now, mostly 0.
  [[nodiscard]] std::uint32_t reposted() {
    if (++count_ < batch_) {
      return 0;
    }
    const std::uint32_t due = count_;
    count_ = 0;
    return due;
  }

private:
  std::uint32_t batch_;
  std::uint32_t count_ = 0;
};

// Tells them in a message without data, for which the other side needs a receive, too.
void send_credits(ibv_qp* qp, std::uint64_t wr_id, std::uint32_t receives) {
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = htonl(receives);
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(qp, &request, &refused); error != 0) {
    throw std::system_error(error, std::generic_category(), "ibv_post_send");
  }
}
