// common/exchange: the address record, written and read. Pure functions.
#include "common/errors.hpp"
#include "common/exchange.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

namespace {

using lab::Endpoint;
using lab::Record;

// As seen on the wire from ibv_rc_pingpong of rdma-core 44, on a port with the GID ::ffff:192.0.2.1.
constexpr std::string_view known = "0000:0004bb:ea202c:00000000000000000000ffffc0000201";

Record record_of(std::string_view text) {
  Record record{};  // its last byte stays NUL
  EXPECT_EQ(text.size() + 1, record.size());
  std::ranges::copy(text.substr(0, record.size() - 1), record.begin());
  return record;
}

ibv_gid gid_of(const char* address) {
  ibv_gid gid{};
  EXPECT_EQ(inet_pton(AF_INET6, address, gid.raw), 1) << address;
  return gid;
}

void expect_same(const Endpoint& a, const Endpoint& b) {
  EXPECT_EQ(a.lid, b.lid);
  EXPECT_EQ(a.qpn, b.qpn);
  EXPECT_EQ(a.psn, b.psn);
  EXPECT_EQ(std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid.raw), 0);
}

// What parse_record has to say about it; empty when it takes the record.
std::string complaint(const Record& record) {
  try {
    static_cast<void>(lab::parse_record(record));
  } catch (const lab::Error& error) {
    return error.what();
  }
  return {};
}

bool is_separator(std::size_t position) { return position == 4 || position == 11 || position == 18; }

// What stands in a record at a position, and nothing else may.
bool may_stand_at(std::size_t position, unsigned char byte) {
  if (position == lab::record_size - 1) {
    return byte == '\0';
  }
  return is_separator(position) ? byte == ':' : std::isxdigit(byte) != 0;
}

std::string expected_complaint(std::size_t position, unsigned char byte) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "byte %zu is 0x%02x,", position, byte);
  return text.data();
}

TEST(Record, IsWrittenAsTheStockToolWritesIt) {
  const Record record =
      lab::format_record({.lid = 0, .qpn = 0x4bb, .psn = 0xea202c, .gid = gid_of("::ffff:192.0.2.1")});
  EXPECT_STREQ(record.data(), std::string{known}.c_str());
  EXPECT_EQ(record.back(), '\0');
}

TEST(Record, IsReadAsTheStockToolWritesIt) {
  expect_same(lab::parse_record(record_of(known)),
              {.lid = 0, .qpn = 0x4bb, .psn = 0xea202c, .gid = gid_of("::ffff:192.0.2.1")});
}

TEST(Record, OfAnInfiniBandPortHasALidAndNoGid) {
  const Endpoint endpoint{.lid = 0x1b, .qpn = 0x50, .psn = 1};
  const Record record = lab::format_record(endpoint);
  EXPECT_STREQ(record.data(), "001b:000050:000001:00000000000000000000000000000000");
  expect_same(lab::parse_record(record), endpoint);
}

TEST(Record, CarriesTheLargestValues) {
  Endpoint endpoint{.lid = 0xffff, .qpn = 0xffffff, .psn = 0xffffff};
  std::ranges::fill(endpoint.gid.raw, std::uint8_t{0xff});
  const Record record = lab::format_record(endpoint);
  EXPECT_STREQ(record.data(), "ffff:ffffff:ffffff:ffffffffffffffffffffffffffffffff");
  expect_same(lab::parse_record(record), endpoint);
}

TEST(Record, ComesBackAsItWas) {
  std::mt19937 random{20240229};  // NOLINT(cert-msc51-cpp): the same endpoints in each run
  for (int round = 0; round < 1000; ++round) {
    Endpoint endpoint{.lid = static_cast<std::uint16_t>(random()),
                      .qpn = static_cast<std::uint32_t>(random() & 0xffffffU),
                      .psn = static_cast<std::uint32_t>(random() & 0xffffffU)};
    std::ranges::generate(endpoint.gid.raw, [&] { return static_cast<std::uint8_t>(random()); });
    const Record record = lab::format_record(endpoint);
    ASSERT_EQ(std::strlen(record.data()), 51U);
    expect_same(lab::parse_record(record), endpoint);
  }
}

TEST(Record, UpperCaseIsTaken) {
  expect_same(lab::parse_record(record_of("00AB:00CDEF:8A1B2C:00000000000000000000FFFFC0000201")),
              {.lid = 0xab, .qpn = 0xcdef, .psn = 0x8a1b2c, .gid = gid_of("::ffff:192.0.2.1")});
}

// All 256 values of each byte in turn: taken if and only if the byte may stand there, and else named with its place.
TEST(Record, OneWrongByteIsFoundWhereverItIs) {
  const Record good = record_of("12ab:34cdef:56789a:fe80000000000000505400fffe000201");
  ASSERT_EQ(complaint(good), "");
  for (std::size_t position = 0; position < good.size(); ++position) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      Record record = good;
      record[position] = static_cast<char>(byte);
      const std::string found = complaint(record);
      if (may_stand_at(position, static_cast<unsigned char>(byte))) {
        EXPECT_EQ(found, "") << "byte " << position << " as " << byte;
      } else {
        EXPECT_NE(found.find(expected_complaint(position, static_cast<unsigned char>(byte))), std::string::npos)
            << "byte " << position << " as " << byte << ": " << found;
      }
    }
  }
}

TEST(Record, TheComplaintSaysWhatBelongsThere) {
  const auto with = [](std::size_t position, char byte) {
    Record record = record_of(known);
    record[position] = byte;
    return complaint(record);
  };
  EXPECT_EQ(with(2, 'g'),
            "the peer's address record is garbled: byte 2 is 0x67, expected a hexadecimal digit of the LID. "
            "Does a program of another kind use this port?");
  EXPECT_NE(with(5, 'g').find("digit of the QP number"), std::string::npos);
  EXPECT_NE(with(17, 'g').find("digit of the PSN"), std::string::npos);
  EXPECT_NE(with(19, 'g').find("digit of the GID"), std::string::npos);
  EXPECT_NE(with(4, ';').find("':' after the LID"), std::string::npos);
  EXPECT_NE(with(11, ';').find("':' after the QP number"), std::string::npos);
  EXPECT_NE(with(18, ';').find("':' after the PSN"), std::string::npos);
  EXPECT_NE(with(51, '0').find("the NUL at the end"), std::string::npos);
}

// Each of these means a number to some parser or other.
TEST(Record, ANumberInAnotherFormIsRefused) {
  for (const std::string_view text : {
           "  11:000011:8a1b2c:00000000000000000000ffffc0000201",          // leading spaces: scanf and strtol take them
           "11  :000011:8a1b2c:00000000000000000000ffffc0000201",          //
           "+011:000011:8a1b2c:00000000000000000000ffffc0000201",          // a sign
           "-001:000011:8a1b2c:00000000000000000000ffffc0000201",          //
           "0000:-00011:8a1b2c:00000000000000000000ffffc0000201",          //
           "0x11:000011:8a1b2c:00000000000000000000ffffc0000201",          // a prefix
           "0000:0x0011:8a1b2c:00000000000000000000ffffc0000201",          //
           "0000:000011:0X1b2c:00000000000000000000ffffc0000201",          //
           "0000:000011:8a1b2c:0x000000000000000000ffffc0000201",          //
           "0000:000011:8a1b2c:00000000000000000000ffff-0000201",          //
           "0000:11:0008a1b2c::00000000000000000000ffffc0000201",          // right length, wrong places
           "00000:00011:8a1b2c:00000000000000000000ffffc0000201",          //
           "0000-000011-8a1b2c-00000000000000000000ffffc0000201",          // wrong separators
           "0000 000011 8a1b2c 00000000000000000000ffffc0000201",          //
           "0000:000011:8a1b2c:0000:0000:0000:0000:ffff:c000:20",          // the GID with colons
           "GET / HTTP/1.1\r\nHost: 192.0.2.1:80\r\nAccept: */*\r\n\r\n",  // somebody else's protocol
       }) {
    EXPECT_NE(complaint(record_of(text)), "") << text;
  }
}

TEST(Record, OfNothingIsRefused) {
  EXPECT_NE(complaint(Record{}).find("byte 0 is 0x00"), std::string::npos);
  Record all_ones{};
  all_ones.fill('\xff');
  EXPECT_NE(complaint(all_ones).find("byte 0 is 0xff"), std::string::npos);
}

TEST(EndpointText, IsTheStockToolsForm) {
  EXPECT_EQ(lab::endpoint_text({.lid = 0, .qpn = 0x11, .psn = 0x8a1b2c, .gid = gid_of("::ffff:192.0.2.1")}),
            "LID 0x0000, QPN 0x000011, PSN 0x8a1b2c, GID ::ffff:192.0.2.1");
  EXPECT_EQ(lab::endpoint_text({.lid = 0xffff, .qpn = 0xffffff, .psn = 0}),
            "LID 0xffff, QPN 0xffffff, PSN 0x000000, GID ::");
}

}  // namespace
