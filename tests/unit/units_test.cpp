// common/units: what the numbers of the API mean.
#include "common/units.hpp"

#include "common/errors.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

ibv_gid gid(const char* text) {
  ibv_gid result{};
  EXPECT_EQ(inet_pton(AF_INET6, text, result.raw), 1) << text;
  return result;
}

TEST(Mtu, EveryEnumeratorInBytesAndBack) {
  const std::vector<std::pair<ibv_mtu, unsigned>> all{
      {IBV_MTU_256, 256}, {IBV_MTU_512, 512}, {IBV_MTU_1024, 1024}, {IBV_MTU_2048, 2048}, {IBV_MTU_4096, 4096}};
  for (const auto& [mtu, bytes] : all) {
    EXPECT_EQ(lab::mtu_bytes(mtu), bytes);
    EXPECT_EQ(lab::mtu_from_bytes(bytes), mtu);
  }
}

TEST(Mtu, OtherSizesAreRefused) {
  for (const unsigned bytes : {0U, 1U, 128U, 255U, 1000U, 1500U, 8192U, 4294967295U}) {
    EXPECT_THROW(static_cast<void>(lab::mtu_from_bytes(bytes)), lab::Error) << bytes;
  }
  try {
    static_cast<void>(lab::mtu_from_bytes(1500));
  } catch (const lab::Error& error) {
    EXPECT_STREQ(error.what(), "a path MTU is 256, 512, 1024, 2048 or 4096 bytes, not 1500");
  }
}

TEST(AckTimeout, IsFourMicrosecondsTimesAPowerOfTwo) {
  EXPECT_EQ(lab::ack_timeout_ms(0), 0.0);  // no timeout at all
  EXPECT_DOUBLE_EQ(lab::ack_timeout_ms(1), 0.008192);
  EXPECT_NEAR(lab::ack_timeout_ms(14), 67.1, 0.05);
  EXPECT_DOUBLE_EQ(lab::ack_timeout_ms(31), 0.004096 * 2147483648.0);  // about 2.4 hours
}

TEST(AckTimeout, DoublesWithEachStep) {
  for (unsigned timeout = 2; timeout <= 31; ++timeout) {
    EXPECT_DOUBLE_EQ(lab::ack_timeout_ms(timeout), 2 * lab::ack_timeout_ms(timeout - 1)) << timeout;
  }
}

TEST(RnrTimer, IsTheTableOfTheSpecification) {
  const std::vector<double> table{655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,
                                  0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36,
                                  20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
  ASSERT_EQ(table.size(), 32U);
  for (unsigned timer = 0; timer < table.size(); ++timer) {
    EXPECT_DOUBLE_EQ(lab::rnr_timer_ms(timer), table[timer]) << timer;
  }
}

TEST(RnrTimer, GrowsFromOneOnAndZeroIsTheLongest) {
  for (unsigned timer = 2; timer <= 31; ++timer) {
    EXPECT_GT(lab::rnr_timer_ms(timer), lab::rnr_timer_ms(timer - 1)) << timer;
  }
  EXPECT_GT(lab::rnr_timer_ms(0), lab::rnr_timer_ms(31));
  EXPECT_THROW(static_cast<void>(lab::rnr_timer_ms(32)), std::out_of_range);
}

TEST(Names, QpStates) {
  const std::vector<std::pair<ibv_qp_state, const char*>> all{
      {IBV_QPS_RESET, "RESET"}, {IBV_QPS_INIT, "INIT"}, {IBV_QPS_RTR, "RTR"}, {IBV_QPS_RTS, "RTS"},
      {IBV_QPS_SQD, "SQD"},     {IBV_QPS_SQE, "SQE"},   {IBV_QPS_ERR, "ERR"}};
  for (const auto& [state, name] : all) {
    EXPECT_STREQ(lab::qp_state_name(state), name);
  }
  EXPECT_STREQ(lab::qp_state_name(IBV_QPS_UNKNOWN), "unknown state");
}

TEST(Names, LinkLayers) {
  EXPECT_STREQ(lab::link_layer_name(IBV_LINK_LAYER_ETHERNET), "Ethernet");
  EXPECT_STREQ(lab::link_layer_name(IBV_LINK_LAYER_INFINIBAND), "InfiniBand");
  EXPECT_STREQ(lab::link_layer_name(IBV_LINK_LAYER_UNSPECIFIED), "InfiniBand");
  EXPECT_STREQ(lab::link_layer_name(99), "unknown link layer");
}

TEST(Names, GidTypes) {
  EXPECT_STREQ(lab::gid_type_name(IBV_GID_TYPE_IB), "InfiniBand");
  EXPECT_STREQ(lab::gid_type_name(IBV_GID_TYPE_ROCE_V1), "RoCE v1");
  EXPECT_STREQ(lab::gid_type_name(IBV_GID_TYPE_ROCE_V2), "RoCE v2");
  EXPECT_STREQ(lab::gid_type_name(99), "unknown type");
}

TEST(Gid, FormsWithTheirBoundaries) {
  const std::vector<std::pair<const char*, const char*>> all{
      {"::", "zero"},
      {"::ffff:192.0.2.1", "IPv4-mapped"},
      {"::ffff:0.0.0.0", "IPv4-mapped"},
      {"::fffe:192.0.2.1", "global"},
      {"1::ffff:192.0.2.1", "global"},
      {"::192.0.2.1", "global"},
      {"::1", "global"},
      {"fe7f:ffff::1", "global"},  // just below fe80::/10
      {"fe80::", "link-local"},
      {"fe80::5054:ff:fe00:201", "link-local"},
      {"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},  // the last one of fe80::/10
      {"fec0::1", "global"},
      {"ff80::1", "global"},
      {"2001:db8::1", "global"},
      {"fd00::1", "global"},
  };
  for (const auto& [text, form] : all) {
    EXPECT_STREQ(lab::address_form(gid(text)), form) << text;
  }
}

TEST(Gid, OnlyAllZerosIsZero) {
  EXPECT_TRUE(lab::gid_is_zero(ibv_gid{}));
  for (unsigned byte = 0; byte < 16; ++byte) {
    ibv_gid one{};
    one.raw[byte] = 1;
    EXPECT_FALSE(lab::gid_is_zero(one)) << byte;
  }
}

TEST(Gid, TextIsTheShortestForm) {
  EXPECT_EQ(lab::gid_text(gid("fe80:0:0:0:5054:00ff:fe00:0201")), "fe80::5054:ff:fe00:201");
  EXPECT_EQ(lab::gid_text(gid("::ffff:c000:0201")), "::ffff:192.0.2.1");
  EXPECT_EQ(lab::gid_text(ibv_gid{}), "::");
  const char* const longest = "2001:db80:1111:2222:3333:4444:5555:6666";
  EXPECT_EQ(lab::gid_text(gid(longest)), longest);
}

TEST(Access, FlagsByNameInTheOrderOfTheHeader) {
  EXPECT_EQ(lab::access_text(0), "local read only");
  EXPECT_EQ(lab::access_text(IBV_ACCESS_LOCAL_WRITE), "LOCAL_WRITE");
  EXPECT_EQ(lab::access_text(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE), "LOCAL_WRITE | REMOTE_READ");
  EXPECT_EQ(lab::access_text(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC),
            "LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC");
}

}  // namespace
