// common/device: choosing a GID, over the tables of the kinds of port there are. A pure function: no device needed.
#include "common/device.hpp"

#include "common/errors.hpp"
#include "common/units.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using Table = std::vector<ibv_gid_entry>;

ibv_gid_entry entry(std::uint32_t index, const char* address, std::uint32_t type) {
  ibv_gid_entry result{};
  EXPECT_EQ(inet_pton(AF_INET6, address, result.gid.raw), 1) << address;
  result.gid_index = index;
  result.port_num = 1;
  result.gid_type = type;
  return result;
}

ibv_gid_entry v1(std::uint32_t index, const char* address) { return entry(index, address, IBV_GID_TYPE_ROCE_V1); }
ibv_gid_entry v2(std::uint32_t index, const char* address) { return entry(index, address, IBV_GID_TYPE_ROCE_V2); }
ibv_gid_entry ib(std::uint32_t index, const char* address) { return entry(index, address, IBV_GID_TYPE_IB); }

ibv_port_attr port_of(std::uint8_t link_layer, std::uint8_t flags = 0) {
  return {.link_layer = link_layer, .flags = flags};
}

std::optional<ibv_gid_entry> on_ethernet(const Table& table, int wanted = -1) {
  return lab::choose_gid(table, port_of(IBV_LINK_LAYER_ETHERNET), IBV_TRANSPORT_IB, wanted);
}

std::optional<ibv_gid_entry> on_infiniband(const Table& table, int wanted = -1) {
  return lab::choose_gid(table, port_of(IBV_LINK_LAYER_INFINIBAND), IBV_TRANSPORT_IB, wanted);
}

// The index chosen on Ethernet, the same for every order of the table; -1 when none is.
int chosen(Table table, int wanted = -1) {
  const auto index = [&] {
    const auto choice = on_ethernet(table, wanted);
    return choice ? static_cast<int>(choice->gid_index) : -1;
  };
  const int first = index();
  std::mt19937 random{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same orders in every run
  for (int round = 0; round < 50; ++round) {
    std::ranges::shuffle(table, random);
    EXPECT_EQ(index(), first) << "the choice depends on the order of the table";
  }
  return first;
}

// The message of the Error that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    static_cast<void>(call());
  } catch (const lab::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// As on an mlx5 port: each address once as v1 and once as v2, in the order in which the addresses came.
const Table mlx5{
    v1(0, "fe80::b696:91ff:fe5a:1"), v2(1, "fe80::b696:91ff:fe5a:1"), v1(2, "2001:db8::7"), v2(3, "2001:db8::7"),
    v1(4, "::ffff:192.0.2.7"),       v2(5, "::ffff:192.0.2.7"),
};

TEST(ChooseGid, PrefersIPv4OverRoceV2) { EXPECT_EQ(chosen(mlx5), 5); }

TEST(ChooseGid, ThenAGlobalIPv6Address) {
  EXPECT_EQ(chosen({v1(0, "fe80::1"), v2(1, "fe80::1"), v1(2, "2001:db8::7"), v2(3, "2001:db8::7")}), 3);
}

TEST(ChooseGid, ThenALinkLocalOne) { EXPECT_EQ(chosen({v1(0, "fe80::1"), v2(1, "fe80::1")}), 1); }

TEST(ChooseGid, RoceV2LinkLocalBeforeRoceV1IPv4) {
  EXPECT_EQ(chosen({v1(0, "::ffff:192.0.2.7"), v2(1, "fe80::1")}), 1);
}

TEST(ChooseGid, RoceV1WhereThereIsNothingElse) {
  EXPECT_EQ(chosen({v1(0, "fe80::1"), v1(1, "2001:db8::7"), v1(2, "::ffff:192.0.2.7")}), 2);
  EXPECT_EQ(chosen({v1(0, "fe80::1"), v1(1, "2001:db8::7")}), 1);
  EXPECT_EQ(chosen({v1(0, "fe80::1")}), 0);
}

TEST(ChooseGid, AsOnSoftRoce) { EXPECT_EQ(chosen({v2(0, "fe80::5054:ff:fe00:201"), v2(1, "::ffff:192.0.2.1")}), 1); }

TEST(ChooseGid, AmongEqualsTheLowestIndex) {
  EXPECT_EQ(chosen({v2(9, "::ffff:192.0.2.1"), v2(3, "::ffff:192.0.2.2"), v2(6, "::ffff:192.0.2.3")}), 3);
  EXPECT_EQ(chosen({v2(8, "fe80::2"), v2(4, "fe80::1")}), 4);
}

TEST(ChooseGid, ATableWithHolesKeepsTheIndexOfTheDevice) {
  const Table table{v1(0, "fe80::1"), v2(7, "fe80::1"), v2(200, "::ffff:192.0.2.7")};
  EXPECT_EQ(chosen(table), 200);
  EXPECT_EQ(chosen(table, 7), 7);
}

TEST(ChooseGid, TakesTheIndexThatWasAskedFor) {
  for (int index = 0; index < 6; ++index) {
    EXPECT_EQ(chosen(mlx5, index), index);
  }
}

TEST(ChooseGid, ReturnsTheWholeEntry) {
  const auto choice = on_ethernet(mlx5);
  ASSERT_TRUE(choice);
  EXPECT_EQ(lab::gid_text(choice->gid), "::ffff:192.0.2.7");
  EXPECT_EQ(choice->gid_type, static_cast<std::uint32_t>(IBV_GID_TYPE_ROCE_V2));
  EXPECT_EQ(choice->port_num, 1U);
}

TEST(ChooseGid, AnEmptyIndexIsRefusedWithTheFilledOnes) {
  const Table table{v1(0, "fe80::1"), v2(7, "fe80::1")};
  EXPECT_EQ(error_of([&] { return on_ethernet(table, 1); }), "the GID table is empty at index 1; filled: 0 7");
  EXPECT_EQ(error_of([&] { return on_ethernet(table, 65535); }), "the GID table is empty at index 65535; filled: 0 7");
}

TEST(ChooseGid, AZeroGidIsAnEmptySlot) {
  const Table table{v2(0, "::"), v1(1, "fe80::1"), v2(2, "::")};
  EXPECT_EQ(chosen(table), 1);
  EXPECT_THROW(static_cast<void>(on_ethernet(table, 0)), lab::Error);
}

TEST(ChooseGid, AnEthernetPortWithoutAGidIsRefused) {
  EXPECT_NE(error_of([] { return on_ethernet({}); }).find("the port has no GID"), std::string::npos);
  EXPECT_NE(error_of([] {
              return on_ethernet({v2(0, "::"), v1(1, "::")});
            }).find("the port has no GID"),
            std::string::npos);
  EXPECT_THROW(static_cast<void>(on_ethernet({}, 0)), lab::Error);
}

TEST(ChooseGid, InfiniBandIsAddressedByLid) {
  EXPECT_FALSE(on_infiniband({ib(0, "fe80::2:c903:1:1")}));
  EXPECT_FALSE(on_infiniband({}));
  // Old drivers do not say what the link layer is: InfiniBand was all there was.
  EXPECT_FALSE(lab::choose_gid(Table{ib(0, "fe80::1")}, port_of(IBV_LINK_LAYER_UNSPECIFIED), IBV_TRANSPORT_IB, -1));
}

TEST(ChooseGid, InfiniBandPortThatRequiresAGrhGetsAGid) {
  const ibv_port_attr port = port_of(IBV_LINK_LAYER_INFINIBAND, IBV_QPF_GRH_REQUIRED);
  const auto choice = lab::choose_gid(Table{ib(0, "fe80::1")}, port, IBV_TRANSPORT_IB, -1);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gid_index, 0U);
  EXPECT_THROW(static_cast<void>(lab::choose_gid(Table{}, port, IBV_TRANSPORT_IB, -1)), lab::Error);
}

TEST(ChooseGid, InfiniBandTakesAGidThatWasAskedFor) {
  const auto choice = on_infiniband({ib(0, "fe80::2:c903:1:1"), ib(1, "fec0::1")}, 1);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gid_index, 1U);
  EXPECT_THROW(static_cast<void>(on_infiniband({ib(0, "fe80::1")}, 3)), lab::Error);
  EXPECT_THROW(static_cast<void>(on_infiniband({}, 0)), lab::Error);
}

TEST(ChooseGid, IwarpIsRefusedAndSentToRdmaCm) {
  const auto iwarp = [](const Table& table, int wanted) {
    return error_of(
        [&] { return lab::choose_gid(table, port_of(IBV_LINK_LAYER_ETHERNET), IBV_TRANSPORT_IWARP, wanted); });
  };
  EXPECT_NE(iwarp({ib(0, "7:43::")}, -1).find("rdma_cm"), std::string::npos);
  EXPECT_NE(iwarp({ib(0, "7:43::")}, 0).find("rdma_cm"), std::string::npos);
  EXPECT_NE(iwarp({}, -1).find("rdma_cm"), std::string::npos);
}

}  // namespace
