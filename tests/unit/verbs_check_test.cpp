// The parts of the checker that need no device: findings, fault injection, the model, transitions, the trace.
#include "finding.hpp"
#include "inject.hpp"
#include "model.hpp"
#include "names.hpp"
#include "trace.hpp"
#include "transition.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace verbs_check;

// Addresses to tell objects apart.
std::array<char, 10000> places;
const void* at(std::size_t number) { return &places.at(number); }

std::vector<std::string> names(const std::vector<const Object*>& objects) {
  std::vector<std::string> result;
  for (const Object* const object : objects) {
    result.push_back(object->name);
  }
  return result;
}

using Names = std::vector<std::string>;

// "place 7" for at(7).
std::string resolve(const void* address) {
  return "place " + std::to_string(static_cast<const char*>(address) - places.data());
}

TEST(VerbsCheckFinding, IsNewOncePerIdAndPlace) {
  Findings findings;
  EXPECT_TRUE(findings.add({.id = "leak", .what = "a", .where = "main, a.cpp:1"}));
  EXPECT_FALSE(findings.add({.id = "leak", .what = "b", .where = "main, a.cpp:1"}));
  EXPECT_FALSE(findings.add({.id = "leak", .what = "c", .where = "main, a.cpp:1"}));
  EXPECT_TRUE(findings.add({.id = "leak", .what = "a", .where = "main, a.cpp:2"}));
  EXPECT_TRUE(findings.add({.id = "busy", .what = "a", .where = "main, a.cpp:1"}));
  EXPECT_EQ(findings.count(), 3U);
  std::vector<std::pair<const Finding*, std::size_t>> repeated;
  findings.each_repeated([&](const Finding& finding, std::size_t times) { repeated.emplace_back(&finding, times); });
  ASSERT_EQ(repeated.size(), 1U);
  EXPECT_EQ(repeated[0].first->what, "a");
  EXPECT_EQ(repeated[0].second, 3U);
}

TEST(VerbsCheckFinding, AsTextNamesItsPage) {
  EXPECT_EQ(
      to_text({.id = "busy", .what = "PD #1", .where = "main, a.cpp:1", .objects = "MR #1", .why = "w", .mend = "m"}),
      "verbs-check: [busy] PD #1\n"
      "verbs-check:   where:   main, a.cpp:1\n"
      "verbs-check:   objects: MR #1\n"
      "verbs-check:   why:     w\n"
      "verbs-check:   mend:    m\n"
      "verbs-check:   more:    docs/verbs-check/busy.md\n");
}

TEST(VerbsCheckFinding, AsTextLeavesOutWhatIsEmpty) {
  EXPECT_EQ(to_text({.id = "busy", .what = "PD #1"}),
            "verbs-check: [busy] PD #1\nverbs-check:   more:    docs/verbs-check/busy.md\n");
}

TEST(VerbsCheckInject, KnowsErrnoByNameAndNumber) {
  EXPECT_EQ(errno_value("ENOMEM"), ENOMEM);
  EXPECT_EQ(errno_value("12"), 12);
  EXPECT_EQ(errno_value("EHWPOISON"), EHWPOISON);
  for (const char* const text : {"", "0", "-1", "134", "enomem", "ENOSUCH", "12x", "1 2", "99999999999999999999"}) {
    EXPECT_EQ(errno_value(text), 0) << text;
  }
}

TEST(VerbsCheckInject, FirstNthAndEveryCall) {
  Injector injector;
  ASSERT_EQ(injector.parse("a=ENOMEM,b:3=22,c:every=EIO"), "");
  EXPECT_EQ(injector.next("a"), ENOMEM);
  EXPECT_EQ(injector.next("a"), 0);
  EXPECT_EQ(injector.next("b"), 0);
  EXPECT_EQ(injector.next("b"), 0);
  EXPECT_EQ(injector.next("b"), 22);
  EXPECT_EQ(injector.next("b"), 0);
  EXPECT_EQ(injector.next("c"), EIO);
  EXPECT_EQ(injector.next("c"), EIO);
  EXPECT_EQ(injector.next("d"), 0);
}

TEST(VerbsCheckInject, NothingIsAskedByAnEmptyText) {
  Injector injector;
  EXPECT_EQ(injector.parse(""), "");
  EXPECT_EQ(injector.next(""), 0);
}

TEST(VerbsCheckInject, SaysWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"ibv_alloc_pd", "'ibv_alloc_pd' is not of the form VERB[:N]=ERRNO"},
      {"=ENOMEM", "'=ENOMEM' is not of the form VERB[:N]=ERRNO"},
      {":2=ENOMEM", "':2=ENOMEM' is not of the form VERB[:N]=ERRNO"},
      {"a=ENOMEM,,b=EIO", "'' is not of the form VERB[:N]=ERRNO"},
      {"a=", "'' is no errno, as name or number"},
      {"a=ENOSUCH", "'ENOSUCH' is no errno, as name or number"},
      {"a:0=ENOMEM", "'0' is neither a number from 1 on nor 'every'"},
      {"a:=ENOMEM", "'' is neither a number from 1 on nor 'every'"},
      {"a:-1=ENOMEM", "'-1' is neither a number from 1 on nor 'every'"},
      {"a:all=ENOMEM", "'all' is neither a number from 1 on nor 'every'"},
      {"ibv_free_device_list=EIO", "ibv_free_device_list returns nothing and cannot fail"},
      {"ibv_ack_cq_events:2=EIO", "ibv_ack_cq_events returns nothing and cannot fail"},
      {"rdma_destroy_qp=EIO", "rdma_destroy_qp returns nothing and cannot fail"},
      {"ibv_unimport_mr=EIO", "ibv_unimport_mr returns nothing and cannot fail"}};
  for (const auto& [text, message] : wrong) {
    EXPECT_EQ(Injector{}.parse(text), message) << text;
  }
}

TEST(VerbsCheckModel, NumbersEachKindByItself) {
  Model model;
  EXPECT_EQ(model.add(at(1), Kind::pd, at(0), {}).name, "PD #1");
  EXPECT_EQ(model.add(at(2), Kind::cq, at(0), {}).name, "CQ #1");
  EXPECT_EQ(model.add(at(3), Kind::pd, at(0), {}).name, "PD #2");
  EXPECT_EQ(model.add(at(4), Kind::imported_mr, at(0), {}).name, "imported MR #1");
  EXPECT_STREQ(create_verb(Kind::mr), "ibv_reg_mr");
  EXPECT_STREQ(destroy_verb(Kind::device_list), "ibv_free_device_list");
}

TEST(VerbsCheckModel, KnowsUsersAndWhatLives) {
  Model model;
  model.add(at(9), Kind::context, at(0), {});
  model.add(at(8), Kind::pd, at(0), {at(9)});
  model.add(at(7), Kind::mr, at(0), {at(8)});
  model.add(at(6), Kind::mr, at(0), {at(8)});
  EXPECT_EQ(names(model.users(at(8))), (Names{"MR #1", "MR #2"}));
  EXPECT_EQ(names(model.alive()), (Names{"context #1", "PD #1", "MR #1", "MR #2"}));
  model.remove(at(7), at(0));
  EXPECT_EQ(names(model.users(at(8))), Names{"MR #2"});
  EXPECT_EQ(names(model.alive()), (Names{"context #1", "PD #1", "MR #2"}));
}

TEST(VerbsCheckModel, TombstoneUntilTheAddressComesAgain) {
  Model model;
  model.add(at(1), Kind::pd, at(2), {});
  EXPECT_EQ(model.tombstone(at(1)), nullptr);
  model.remove(at(1), at(3));
  EXPECT_EQ(model.living(at(1)), nullptr);
  ASSERT_NE(model.tombstone(at(1)), nullptr);
  EXPECT_EQ(describe(*model.tombstone(at(1)), resolve), "PD #1 (made in place 2, destroyed in place 3)");
  model.add(at(1), Kind::cq, at(4), {});
  EXPECT_EQ(model.tombstone(at(1)), nullptr);
  EXPECT_EQ(describe(*model.living(at(1)), resolve), "CQ #1 (made in place 4)");
}

TEST(VerbsCheckModel, ARefusedDestroyChangesNothing) {
  Model model;
  model.add(at(1), Kind::pd, at(0), {});
  model.add(at(2), Kind::mr, at(0), {at(1)});
  const Object before = *model.living(at(1));
  model.remove(at(1), at(0));
  model.restore(at(1), before);
  EXPECT_EQ(model.tombstone(at(1)), nullptr);
  ASSERT_NE(model.living(at(1)), nullptr);
  EXPECT_EQ(model.living(at(1))->gone, nullptr);
  EXPECT_EQ(names(model.alive()), (Names{"PD #1", "MR #1"}));  // still in the order in which they were made
}

TEST(VerbsCheckModel, AClosedContextTakesEverythingWithIt) {
  Model model;
  model.add(at(1), Kind::context, at(0), {});
  model.add(at(2), Kind::pd, at(0), {at(1)});
  model.add(at(3), Kind::cq, at(0), {at(1)});
  model.add(at(4), Kind::qp, at(0), {at(2), at(3)});
  model.add(at(5), Kind::context, at(0), {});
  model.remove_users(at(1), at(7));
  EXPECT_EQ(names(model.alive()), (Names{"context #1", "context #2"}));
  ASSERT_NE(model.tombstone(at(4)), nullptr);
  EXPECT_EQ(model.tombstone(at(4))->gone, at(7));
}

TEST(VerbsCheckModel, KeepsABoundedNumberOfTombstones) {
  Model model;
  for (std::size_t i = 0; i < 5000; ++i) {
    model.add(at(i), Kind::ah, at(0), {});
    model.remove(at(i), at(0));
  }
  EXPECT_EQ(model.tombstone(at(0)), nullptr);
  EXPECT_NE(model.tombstone(at(4999)), nullptr);
  EXPECT_NE(model.tombstone(at(5000 - 4096)), nullptr);
  EXPECT_EQ(model.tombstone(at(5000 - 4097)), nullptr);
}

TEST(VerbsCheckModel, RemovingWhatIsUnknownDoesNothing) {
  Model model;
  model.remove(at(1), at(0));
  EXPECT_EQ(model.tombstone(at(1)), nullptr);
  EXPECT_EQ(describe(std::vector<const Object*>{}, resolve), "");
}

// An RC QP's transition on an Ethernet port with an active MTU of 1024 bytes.
struct Case {
  ibv_qp_attr attr{.path_mtu = IBV_MTU_1024,
                   .ah_attr = {.grh = {.sgid_index = 1}, .is_global = 1, .port_num = 1},
                   .timeout = 14,
                   .retry_cnt = 7,
                   .rnr_retry = 7};
  Transition transition{
      .link_layer = IBV_LINK_LAYER_ETHERNET, .active_mtu = IBV_MTU_1024, .source_gid_is_empty = false};

  Case(ibv_qp_state from, ibv_qp_state to, int mask) {
    attr.qp_state = to;
    attr.ah_attr.grh.dgid.raw[15] = 1;
    transition.from = from;
    transition.mask = mask;
  }

  // The ids that are found, with a blank between.
  std::string ids() {
    transition.attr = &attr;
    std::string text;
    for (const Fault& fault : faults_of(transition)) {
      text += (text.empty() ? "" : " ") + fault.id;
    }
    return text;
  }

  std::string what() {
    transition.attr = &attr;
    const auto faults = faults_of(transition);
    return faults.size() == 1 ? faults[0].what : "not one fault but " + std::to_string(faults.size());
  }
};

constexpr int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int rts_mask =
    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

Case to_init() { return {IBV_QPS_RESET, IBV_QPS_INIT, init_mask}; }
Case to_rtr() { return {IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask}; }
Case to_rts() { return {IBV_QPS_RTR, IBV_QPS_RTS, rts_mask}; }

TEST(VerbsCheckTransition, TheWayUpIsFaultless) {
  EXPECT_EQ(to_init().ids(), "");
  EXPECT_EQ(to_rtr().ids(), "");
  EXPECT_EQ(to_rts().ids(), "");
  EXPECT_EQ(Case(IBV_QPS_RTS, IBV_QPS_ERR, IBV_QP_STATE).ids(), "");
  EXPECT_EQ(Case(IBV_QPS_ERR, IBV_QPS_RESET, IBV_QP_STATE).ids(), "");
  EXPECT_EQ(Case(IBV_QPS_RTS, IBV_QPS_RESET, IBV_QP_STATE).ids(), "");
  EXPECT_EQ(Case(IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_STATE).ids(), "");
  EXPECT_EQ(Case(IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS).ids(), "");
  EXPECT_EQ(Case(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER).ids(), "");  // without a state: it stays
}

TEST(VerbsCheckTransition, OtherTypesHaveTheirOwnBits) {
  Case ud = to_init();
  ud.transition.type = IBV_QPT_UD;
  EXPECT_EQ(ud.ids(), "qp-mask-missing qp-mask-extra");
  ud.transition.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  EXPECT_EQ(ud.ids(), "");
  Case uc = to_rtr();
  uc.transition.type = IBV_QPT_UC;
  EXPECT_EQ(uc.what(),
            "INIT to RTR with IBV_QP_MIN_RNR_TIMER, IBV_QP_MAX_DEST_RD_ATOMIC, which does not belong to this step");
}

TEST(VerbsCheckTransition, StatesSkipped) {
  for (const auto& [from, to] :
       {std::pair{IBV_QPS_RESET, IBV_QPS_RTR}, std::pair{IBV_QPS_RESET, IBV_QPS_RTS},
        std::pair{IBV_QPS_INIT, IBV_QPS_RTS}, std::pair{IBV_QPS_RTS, IBV_QPS_INIT}, std::pair{IBV_QPS_ERR, IBV_QPS_RTS},
        std::pair{IBV_QPS_ERR, IBV_QPS_INIT}, std::pair{IBV_QPS_RTR, IBV_QPS_INIT}}) {
    EXPECT_EQ(Case(from, to, IBV_QP_STATE).ids(), "qp-state-skipped") << from << " " << to;
  }
}

TEST(VerbsCheckTransition, EachMissingBitIsNamed) {
  for (Case full : {to_init(), to_rtr(), to_rts()}) {
    for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
      Case one = full;
      if (bit != IBV_QP_STATE && (one.transition.mask & bit) != 0) {
        one.transition.mask &= ~bit;
        EXPECT_EQ(one.what(), std::string{state_name(one.transition.from)} + " to " + state_name(one.attr.qp_state) +
                                  " without " + mask_names(bit));
      }
    }
  }
}

TEST(VerbsCheckTransition, ExtraBits) {
  Case one = to_rtr();
  one.transition.mask |= IBV_QP_TIMEOUT | IBV_QP_ACCESS_FLAGS;  // the second may be there
  EXPECT_EQ(one.what(), "INIT to RTR with IBV_QP_TIMEOUT, which does not belong to this step");
}

TEST(VerbsCheckTransition, Addresses) {
  Case one = to_rtr();
  one.attr.ah_attr.is_global = 0;
  EXPECT_EQ(one.ids(), "qp-grh-missing");
  one.transition.link_layer = IBV_LINK_LAYER_INFINIBAND;
  EXPECT_EQ(one.ids(), "");
  one.transition.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
  EXPECT_EQ(one.ids(), "");

  one = to_rtr();
  one.attr.ah_attr.grh.dgid = {};
  EXPECT_EQ(one.ids(), "qp-gid-zero");
  one = to_rtr();
  one.transition.source_gid_is_empty = true;
  EXPECT_EQ(one.what(), "INIT to RTR with sgid_index 1, where the GID table is empty");
}

TEST(VerbsCheckTransition, FamiliesOfAddresses) {
  const ibv_gid ipv4{.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}};
  const ibv_gid link_local{.raw = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  Case one = to_rtr();
  one.attr.ah_attr.grh.dgid = ipv4;
  one.transition.source_gid = ipv4;
  EXPECT_EQ(one.ids(), "");
  one.transition.source_gid = link_local;
  EXPECT_EQ(one.what(), "INIT to RTR from sgid_index 1, an IPv6 address, to an IPv4 address of the peer");
  one.attr.ah_attr.grh.dgid = link_local;
  EXPECT_EQ(one.ids(), "");
  one.transition.source_gid = {};  // not known
  EXPECT_EQ(one.ids(), "");
}

TEST(VerbsCheckTransition, ATimeoutOfZeroNeverEnds) {
  Case one = to_rts();
  one.attr.timeout = 0;
  EXPECT_EQ(one.what(), "RTR to RTS with timeout 0");
}

TEST(VerbsCheckTransition, APortThatIsDown) {
  Case one = to_init();
  one.attr.port_num = 1;
  one.transition.port_state = IBV_PORT_DOWN;
  EXPECT_EQ(one.what(), "RESET to INIT on port 1, which is not active");
}

TEST(VerbsCheckTransition, LimitsOfTheDevice) {
  Case one = to_rts();
  one.attr.max_rd_atomic = 17;
  one.transition.max_rd_atomic = 16;
  EXPECT_EQ(one.what(), "RTR to RTS with max_rd_atomic 17; the highest is 16");
}

TEST(VerbsCheckTransition, PathMtu) {
  Case one = to_rtr();
  one.attr.path_mtu = IBV_MTU_2048;
  EXPECT_EQ(one.what(), "INIT to RTR with path_mtu 2048, but the port's active MTU is 1024");
  one.attr.path_mtu = IBV_MTU_256;
  EXPECT_EQ(one.ids(), "");
}

// The number of bytes in place of the enumeration, as some programs have it.
TEST(VerbsCheckTransition, PathMtuThatIsNoEnumeration) {
  Case one = to_rtr();
  one.attr.path_mtu = static_cast<ibv_mtu>(0);
  EXPECT_EQ(one.what(), "INIT to RTR with path_mtu 0, which is no ibv_mtu: IBV_MTU_256 (1) to IBV_MTU_4096 (5)");
  one.attr.path_mtu = static_cast<ibv_mtu>(6);
  EXPECT_EQ(one.ids(), "qp-value-range");
}

TEST(VerbsCheckTransition, Ranges) {
  Case one = to_rts();
  one.attr.retry_cnt = 8;
  EXPECT_EQ(one.what(), "RTR to RTS with retry_cnt 8; the highest is 7");
  one.attr.rnr_retry = 8;
  EXPECT_EQ(one.ids(), "qp-value-range qp-value-range");
  one = to_rts();
  one.attr.timeout = 32;
  one.attr.sq_psn = 0x1000000;
  EXPECT_EQ(one.ids(), "qp-value-range qp-value-range");
  one = to_rtr();
  one.attr.min_rnr_timer = 32;
  EXPECT_EQ(one.ids(), "qp-value-range");
  // What the mask leaves out is not looked at.
  one = to_rtr();
  one.attr.retry_cnt = 255;
  one.attr.sq_psn = 0xffffffff;
  EXPECT_EQ(one.ids(), "");
}

TEST(VerbsCheckTransition, Names) {
  EXPECT_EQ(mask_names(IBV_QP_PORT | IBV_QP_STATE), "IBV_QP_STATE, IBV_QP_PORT");
  EXPECT_EQ(mask_names(0), "");
  EXPECT_STREQ(state_name(IBV_QPS_ERR), "ERR");
  EXPECT_STREQ(state_name(IBV_QPS_UNKNOWN), "an unknown state");
}

TEST(VerbsCheckTrace, EscapesText) {
  EXPECT_EQ(Line{}.text(), "{}");
  EXPECT_EQ(Line{}.add("a", -1).add("b", "x").text(), R"({"a":-1,"b":"x"})");
  EXPECT_EQ(Line{}.add("a", "\"\\\n\x01/").text(), R"({"a":"\"\\\u000a\u0001/"})");
  EXPECT_EQ(Line{}.add("a", std::numeric_limits<std::int64_t>::min()).text(), R"({"a":-9223372036854775808})");
}

// A file name may be any bytes; JSON is UTF-8.
TEST(VerbsCheckTrace, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(Line{}.add("a", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80").text(),
            "{\"a\":\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"}");
  EXPECT_EQ(Line{}.add("a", "x\xffy\xc3").text(), R"({"a":"x\ufffdy\ufffd"})");
  EXPECT_EQ(Line{}.add("a", "\xe4\xb8").text(), R"({"a":"\ufffd\ufffd"})");
}

TEST(VerbsCheckTrace, NestsObjectsAndArrays) {
  Line line;
  line.open("a", '{').add("b", 1).open("c", '[').add("", "d").add("", 2).open("", '{').close().close().close();
  EXPECT_EQ(line.add("e", 3).open("f", '[').text(), R"({"a":{"b":1,"c":["d",2,{}]},"e":3,"f":[]})");
}

TEST(VerbsCheckNames, OfConstants) {
  EXPECT_EQ(opcode_name(IBV_WR_RDMA_READ), "IBV_WR_RDMA_READ");
  EXPECT_EQ(opcode_name(IBV_WC_RECV_RDMA_WITH_IMM), "IBV_WC_RECV_RDMA_WITH_IMM");
  EXPECT_EQ(status_name(IBV_WC_RNR_RETRY_EXC_ERR), "IBV_WC_RNR_RETRY_EXC_ERR");
  EXPECT_EQ(opcode_name(static_cast<ibv_wr_opcode>(13)), "unknown");
  EXPECT_EQ(type_name(IBV_QPT_UD), "IBV_QPT_UD");
  EXPECT_EQ(send_flag_names(IBV_SEND_SIGNALED | IBV_SEND_INLINE), "IBV_SEND_SIGNALED | IBV_SEND_INLINE");
  EXPECT_EQ(access_names(0), "0");
}

TEST(VerbsCheckTrace, WritesWholeLinesAtTheEnd) {
  std::string path = testing::TempDir() + "verbs-check-trace-" + std::to_string(getpid());
  Trace closed;
  Line nowhere;
  closed.add(nowhere);
  closed.flush();
  EXPECT_FALSE(closed.is_open());
  {
    Trace first;
    Trace second;
    ASSERT_EQ(first.open(path), 0);
    ASSERT_EQ(second.open(path), 0);  // another process of the program
    EXPECT_TRUE(first.is_open());
    const auto add_empty = [&] {
      Line empty = first.line();
      first.add(empty);
    };
    Line one = second.line();
    add_empty();
    first.flush();
    second.add(one.add("a", 1));
    EXPECT_TRUE(second.has_waiting());
    second.flush();
    EXPECT_FALSE(second.has_waiting());
    add_empty();
    first.flush();
    add_empty();  // waits, and is not written
  }
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  EXPECT_EQ(text.str(), "{}\n{\"a\":1}\n{}\n");
  unlink(path.c_str());
  EXPECT_EQ(closed.open("/nonexistent/trace"), ENOENT);
}

// What a trace with this key has written, when `fill` has added to it.
template <class Fill>
std::string written(const std::string& key, Fill fill) {
  const std::string path = testing::TempDir() + "verbs-check-batches-" + std::to_string(getpid());
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Trace trace;
  EXPECT_EQ(trace.adopt(descriptor, key), 0);
  fill(trace);
  trace.flush();
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  unlink(path.c_str());
  return text.str();
}

TEST(VerbsCheckTrace, KeepsBatchesInTheirPlace) {
  const Beginning beginning{.until_result = ",\"verb\":\"v\",\"result\":", .after_result = ",\"where\":\"w\""};
  const std::string qp = "QP #1";
  const std::string text = written("", [&](Trace& trace) {
    trace.add(Entry{.wr_id = 7, .length = 64, .opcode = IBV_WR_SEND, .flags = IBV_SEND_SIGNALED});
    trace.add(Batch{.shape = Shape::sends, .beginning = &beginning, .time_ns = 1, .process = 2, .thread = 3});
    trace.add(Batch{.shape = Shape::receives, .beginning = &beginning, .time_ns = 2, .result = EINVAL});
    EXPECT_TRUE(trace.has_waiting());
    Line line = trace.line();
    trace.add(line);
    trace.add(Entry{.wr_id = ~0ULL, .status = IBV_WC_RETRY_EXC_ERR, .qp = &qp});
    trace.add(Entry{.length = 5, .opcode = IBV_WC_RECV, .qp = &qp});
    trace.add(Batch{.shape = Shape::completions, .beginning = &beginning, .result = 2, .num_entries = 9});
  });
  const std::string call = R"(,"verb":"v","result":)";
  EXPECT_EQ(text,
            R"({"time_ns":1,"pid":2,"thread":3)" + call +
                R"(0,"where":"w","args":{"requests":[{"wr_id":7,"opcode":"IBV_WR_SEND",)" +
                R"("send_flags":"IBV_SEND_SIGNALED","length":64}]}})" + "\n" + R"({"time_ns":2,"pid":0,"thread":0)" +
                call + R"(22,"where":"w","args":{"requests":[]}})" + "\n{}\n" + R"({"time_ns":0,"pid":0,"thread":0)" +
                call + R"(2,"where":"w","args":{"num_entries":9},"completions":[)" +
                R"({"qp":"QP #1","wr_id":-1,"status":"IBV_WC_RETRY_EXC_ERR"},)" +
                R"({"qp":"QP #1","wr_id":0,"status":"IBV_WC_SUCCESS","opcode":"IBV_WC_RECV","byte_len":5}]})" + "\n");
}

TEST(VerbsCheckTrace, WritesManyBatchesByItself) {
  const Beginning beginning{};
  std::size_t waited = 0;
  const std::string text = written("", [&](Trace& trace) {
    for (int i = 0; i < 1000; ++i) {
      trace.add(Entry{});
      trace.add(Batch{.shape = Shape::receives, .beginning = &beginning});
      waited += trace.has_waiting() ? 1U : 0U;
    }
  });
  EXPECT_LT(waited, 1000U);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1000);
}

TEST(VerbsCheckTrace, PutsTheKeyBeforeEachLine) {
  const Beginning beginning{.until_result = ",\"result\":", .after_result = ""};
  const std::string text = written("c0de", [&](Trace& trace) {
    for (int i = 0; i < 2; ++i) {
      Line line = trace.line();
      trace.add(line);
      trace.add(Batch{.shape = Shape::receives, .beginning = &beginning});
      trace.flush();
    }
  });
  const std::string both =
      "\nc0de {}\nc0de "
      R"({"time_ns":0,"pid":0,"thread":0,"result":0,"args":{"requests":[]}})"
      "\n";
  EXPECT_EQ(text, both + both);
  Trace wrong;
  EXPECT_EQ(wrong.adopt(open("/dev/null", O_RDONLY), "c0de"), EBADF);
  EXPECT_EQ(wrong.adopt(-1, "c0de"), EBADF);
}

}  // namespace
