// Errors, devices, ports and addresses.
#include "common/units.hpp"
#include "docs/snippets/active-port.cpp"
#include "docs/snippets/address-record.cpp"
#include "docs/snippets/choose-gid.cpp"
#include "docs/snippets/conventions.cpp"
#include "docs/snippets/device-limits.cpp"
#include "docs/snippets/error-completion.cpp"
#include "docs/snippets/find-device.cpp"
#include "docs/snippets/gid-table.cpp"
#include "docs/snippets/gid-text.cpp"
#include "docs/snippets/mtu.cpp"
#include "docs/snippets/status-name.cpp"
#include "docs/snippets/wr-id.cpp"
#include "testing.hpp"

SNIPPET("conventions") {
  int something = 0;
  EXPECT(made(&something, "ibv_alloc_pd") == &something);
  const auto code_of = [](auto action) {
    try {
      action();
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    return 0;
  };
  EXPECT(code_of([] { errno = ENOMEM, (void)made(static_cast<int*>(nullptr), "ibv_alloc_pd"); }) == ENOMEM);
  EXPECT(code_of([] { errno = ENOSPC, done(EBUSY, "ibv_dealloc_pd"); }) == EBUSY);
  EXPECT(code_of([] { errno = ENOSPC, done(0, "ibv_dealloc_pd"); }) == 0);
  EXPECT(code_of([] { errno = ENODEV, not_minus_one(-1, "rdma_connect"); }) == ENODEV);
  EXPECT(not_minus_one(7, "open") == 7);
  EXPECT(throws("ibv_modify_qp", [] { done(EINVAL, "ibv_modify_qp"); }));
}

SNIPPET("status-name") {
  EXPECT(status_name(IBV_WC_SUCCESS) == "SUCCESS (0)");
  EXPECT(status_name(IBV_WC_LOC_PROT_ERR) == "LOC_PROT_ERR (4)");
  EXPECT(status_name(IBV_WC_WR_FLUSH_ERR) == "WR_FLUSH_ERR (5)");
  EXPECT(status_name(IBV_WC_REM_ACCESS_ERR) == "REM_ACCESS_ERR (10)");
  EXPECT(status_name(IBV_WC_RNR_RETRY_EXC_ERR) == "RNR_RETRY_EXC_ERR (13)");
  EXPECT(status_name(IBV_WC_GENERAL_ERR) == "GENERAL_ERR (21)");
  EXPECT(status_name(IBV_WC_TM_RNDV_INCOMPLETE) == "TM_RNDV_INCOMPLETE (23)");
}

SNIPPET("error-completion") {
  Pair pair;
  pair.connect({.timeout = 8, .retry_cnt = 3, .rnr_retry = 1});
  Pair::send(pair.a, 77, 0, 8);  // and nobody has posted a receive
  ibv_wc completion = pair.a.wait();
  EXPECT(completion.status == IBV_WC_RNR_RETRY_EXC_ERR);
  const std::string number = std::to_string(pair.a.qp->qp_num);
  EXPECT(throws("request 77 of QP " + number + ": ", [&] { require_success(completion); }));
  EXPECT(throws("(13)", [&] { require_success(completion); }));
  completion.status = IBV_WC_SUCCESS;
  require_success(completion);
  // What the page says of the state: the structure does not follow, the device knows.
  EXPECT(pair.a.qp->state == IBV_QPS_RTS);
  EXPECT(lab::state_of(pair.a.qp) == IBV_QPS_ERR);
}

SNIPPET("find-device") {
  const lab::Device first = lab::open_device({});
  ibv_context* const context = open_device(first.name());
  EXPECT(context != nullptr);
  EXPECT(std::string{ibv_get_device_name(context->device)} == first.name());
  ibv_device_attr attr{};
  EXPECT(ibv_query_device(context, &attr) == 0);  // the list is gone, the device is open
  EXPECT(ibv_close_device(context) == 0);
  EXPECT(open_device("nosuch") == nullptr);
  EXPECT(open_device("") == nullptr);
}

SNIPPET("active-port") {
  const lab::Device first = lab::open_device({});
  const std::vector<ibv_port_attr> ports = ports_of(first.context.get());
  ibv_device_attr attr{};
  EXPECT(ibv_query_device(first.context.get(), &attr) == 0);
  EXPECT(ports.size() == attr.phys_port_cnt);
  EXPECT(active_port(first.context.get()) == first.port);
  EXPECT(ports.at(first.port - 1U).state == IBV_PORT_ACTIVE);
  EXPECT(ports.at(first.port - 1U).active_mtu == first.port_attr.active_mtu);
}

SNIPPET("gid-table") {
  const lab::Device first = lab::open_device({});
  std::vector<ibv_gid_entry> table = gid_table(first.context.get());
  std::erase_if(table, [&](const ibv_gid_entry& entry) {
    EXPECT(entry.port_num > 0 && !lab::gid_is_zero(entry.gid));
    return entry.port_num != first.port;
  });
  const std::vector<ibv_gid_entry> wanted = lab::gid_table(first.context.get(), first.port);
  EXPECT(!wanted.empty() && table.size() == wanted.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT(table[i].gid_index == wanted[i].gid_index && table[i].gid_type == wanted[i].gid_type);
    EXPECT(std::memcmp(table[i].gid.raw, wanted[i].gid.raw, sizeof wanted[i].gid.raw) == 0);
  }
}

namespace {

ibv_gid_entry entry(std::uint32_t index, std::uint32_t type, std::array<std::uint8_t, 16> raw) {
  ibv_gid_entry made{.gid_index = index, .port_num = 1, .gid_type = type};
  std::copy(raw.begin(), raw.end(), made.gid.raw);
  return made;
}

}  // namespace

SNIPPET("choose-gid") {
  constexpr std::array<std::uint8_t, 16> local{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::array<std::uint8_t, 16> global{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::array<std::uint8_t, 16> ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  std::vector<ibv_gid_entry> table{entry(0, IBV_GID_TYPE_ROCE_V1, local), entry(1, IBV_GID_TYPE_ROCE_V2, local),
                                   entry(2, IBV_GID_TYPE_ROCE_V1, ipv4),  entry(3, IBV_GID_TYPE_ROCE_V2, global),
                                   entry(4, IBV_GID_TYPE_ROCE_V2, ipv4),  entry(5, IBV_GID_TYPE_ROCE_V2, {}),
                                   entry(6, IBV_GID_TYPE_ROCE_V2, ipv4)};
  const auto chosen = [&] { return choose_gid(table, 1)->gid_index; };
  EXPECT(chosen() == 4);
  table.erase(table.begin() + 6);
  table.erase(table.begin() + 4);
  EXPECT(chosen() == 3);
  table.erase(table.begin() + 3);
  EXPECT(chosen() == 1);
  table.erase(table.begin() + 1);
  EXPECT(chosen() == 2);
  EXPECT(!choose_gid(table, 2));
  EXPECT(!choose_gid({}, 1));
  // And on the device that is there, as the chapters choose.
  const lab::Device first = lab::open_device({});
  if (const auto wanted = lab::choose_gid(first, {})) {
    EXPECT(choose_gid(gid_table(first.context.get()), first.port)->gid_index == wanted->gid_index);
  }
}

SNIPPET("gid-text") {
  ibv_gid gid{};
  EXPECT(gid_text(gid) == "::");
  constexpr std::array<std::uint8_t, 16> ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  std::copy(ipv4.begin(), ipv4.end(), gid.raw);
  EXPECT(gid_text(gid) == "::ffff:192.0.2.1");
}

SNIPPET("mtu") {
  EXPECT(mtu_bytes(IBV_MTU_256) == 256 && mtu_bytes(IBV_MTU_1024) == 1024 && mtu_bytes(IBV_MTU_4096) == 4096);
  EXPECT(mtu_from_bytes(512) == IBV_MTU_512 && mtu_from_bytes(2048) == IBV_MTU_2048);
  EXPECT(throws("1500 is no MTU", [] { mtu_from_bytes(1500); }));
  const ibv_port_attr port{.active_mtu = IBV_MTU_1024};
  EXPECT(path_mtu(port, IBV_MTU_4096) == IBV_MTU_1024 && path_mtu(port, IBV_MTU_512) == IBV_MTU_512);
}

SNIPPET("device-limits") {
  const lab::Device first = lab::open_device({});
  ibv_device_attr attr{};
  EXPECT(ibv_query_device(first.context.get(), &attr) == 0);
  const ibv_qp_cap cut = within_limits(
      first.context.get(),
      {.max_send_wr = 1U << 31U, .max_recv_wr = 16, .max_send_sge = 10000, .max_recv_sge = 1, .max_inline_data = 64});
  EXPECT(cut.max_send_wr == static_cast<std::uint32_t>(attr.max_qp_wr) && cut.max_recv_wr == 16);
  EXPECT(cut.max_send_sge == static_cast<std::uint32_t>(attr.max_sge) && cut.max_recv_sge == 1);
  EXPECT(cut.max_inline_data == 64);
}

SNIPPET("address-record") {
  Address address{.lid = 0x1234, .qpn = 0x00abcdef, .psn = 0x00012345};
  for (std::size_t i = 0; i < 16; ++i) {
    address.gid.raw[i] = static_cast<std::uint8_t>(i);
  }
  const AddressRecord record = pack(address);
  EXPECT(record[0] == std::byte{0x12} && record[1] == std::byte{0x34});
  EXPECT(record[2] == std::byte{0} && record[5] == std::byte{0xef} && record[9] == std::byte{0x45});
  EXPECT(record[25] == std::byte{15});
  const Address back = unpack(record);
  EXPECT(back.lid == 0x1234 && back.qpn == 0x00abcdef && back.psn == 0x00012345);
  EXPECT(std::memcmp(back.gid.raw, address.gid.raw, 16) == 0);
}

SNIPPET("wr-id") {
  static_assert(kind_of(wr_id_of(Kind::read, 5)) == Kind::read);
  static_assert(index_of(wr_id_of(Kind::send, 0xffffffffff)) == 0xffffffffff);
  EXPECT(wr_id_of(Kind::receive, 5) != wr_id_of(Kind::send, 5));
}
