// common/connect: what is refused or decided before any verb is called. No device needed.
#include "common/connect.hpp"

#include "common/errors.hpp"
#include "common/units.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

lab::Device device_with_mtu(ibv_mtu mtu) {
  lab::Device device;
  device.port = 2;
  device.port_attr.active_mtu = mtu;
  device.port_attr.lid = 0x1b;
  return device;
}

lab::Path path_with_gid(std::uint8_t last_byte) {
  lab::Path path;
  path.source = ibv_gid_entry{};
  path.source->gid.raw[15] = last_byte;
  return path;
}

TEST(MakePath, RefusesAnMtuAboveThePortsAndNamesTheOneThatWorks) {
  lab::Options options;
  options.mtu = 4096;
  try {
    static_cast<void>(lab::make_path(device_with_mtu(IBV_MTU_1024), options));
    FAIL() << "an MTU of 4096 on a port of 1024";
  } catch (const lab::Error& error) {
    EXPECT_EQ(
        std::string{error.what()},
        "a path MTU of 4096 bytes is above the active MTU of port 2, 1024 bytes: packets would be dropped. Use -m "
        "1024 or less on both sides");
  }
}

TEST(MakePath, RefusesEachMtuAboveThePorts) {
  for (const ibv_mtu active : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048}) {
    for (unsigned asked = 2 * lab::mtu_bytes(active); asked <= 4096; asked *= 2) {
      lab::Options options;
      options.mtu = asked;
      EXPECT_THROW(static_cast<void>(lab::make_path(device_with_mtu(active), options)), lab::Error) << asked;
    }
  }
}

TEST(ToRtr, RefusesAPeerWithoutGidWhereTheGidIsTheAddress) {
  try {
    lab::to_rtr(nullptr, path_with_gid(1), {.lid = 0, .qpn = 17, .psn = 1});
    FAIL() << "a peer that has sent no GID";
  } catch (const lab::Error& error) {
    EXPECT_EQ(std::string{error.what()},
              "the peer sent no GID, and on this port the GID is the address: start it with -g INDEX");
  }
}

TEST(LocalEndpoint, HasThePortsLidAndTheChosenGid) {
  ibv_qp qp{};
  qp.qp_num = 0xabcdef;
  const lab::Endpoint endpoint = lab::local_endpoint(device_with_mtu(IBV_MTU_1024), path_with_gid(9), &qp);
  EXPECT_EQ(endpoint.lid, 0x1b);
  EXPECT_EQ(endpoint.qpn, 0xabcdefU);
  EXPECT_EQ(endpoint.gid.raw[15], 9);
}

TEST(LocalEndpoint, HasNoGidWhereTheLidIsTheAddress) {
  ibv_qp qp{};
  const lab::Endpoint endpoint = lab::local_endpoint(device_with_mtu(IBV_MTU_1024), {}, &qp);
  const ibv_gid zero{};
  EXPECT_EQ(std::memcmp(&endpoint.gid, &zero, sizeof zero), 0);
}

TEST(LocalEndpoint, DrawsAPsnOf24BitsEachTime) {
  ibv_qp qp{};
  const lab::Device device = device_with_mtu(IBV_MTU_1024);
  std::uint32_t all = 0;
  for (int draw = 0; draw < 64; ++draw) {
    all |= lab::local_endpoint(device, {}, &qp).psn;
  }
  EXPECT_EQ(all, 0xffffffU);  // each bit was set at least once: one is missed by chance once in 10^18 runs
}

}  // namespace
