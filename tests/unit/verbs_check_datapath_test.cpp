// tools/verbs-check datapath: what is wrong with a request, and how many slots of a send queue are taken.
#include "datapath.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace {

using verbs_check::DataPath;
using verbs_check::Fault;
using Ids = std::vector<std::string>;

// What is at these addresses does not matter: they are names of objects.
constexpr int pd{};
constexpr int other_pd{};
constexpr int mr{};
constexpr int other_mr{};
constexpr int qp{};
constexpr int other_qp{};

constexpr std::uint32_t number = 0x11;
constexpr std::uint32_t depth = 4;
constexpr std::uint32_t lkey = 0x1200;
constexpr std::uint32_t rkey = 0x1300;
constexpr std::uint64_t begin = 0x10000;
constexpr std::uint64_t length = 64;

Ids ids(const std::vector<Fault>& faults) {
  Ids result;
  for (const Fault& fault : faults) {
    result.push_back(fault.id);
  }
  return result;
}

// A QP in RTS and a region of 64 bytes that may be written.
class DataPathTest : public testing::Test {
protected:
  DataPathTest() {
    add_region({});
    add_qp(IBV_QPS_RTS);
  }

  struct Changed {
    const void* mr = &::mr;
    const void* pd = &::pd;
    std::uint64_t begin = ::begin;
    std::uint64_t length = ::length;
    unsigned access = IBV_ACCESS_LOCAL_WRITE;
  };
  void add_region(const Changed& region) {
    data.add_region({.mr = region.mr,
                     .pd = region.pd,
                     .begin = region.begin,
                     .length = region.length,
                     .access = region.access,
                     .lkey = lkey,
                     .rkey = rkey});
  }

  void add_qp(ibv_qp_state state, bool all_signalled = false) {
    data.add_qp(&qp,
                {.number = number, .pd = &pd, .state = state, .send_depth = depth, .all_signalled = all_signalled});
  }

  // The faults of a request over these SGEs.
  std::vector<Fault> send(std::vector<ibv_sge> ranges, ibv_wr_opcode opcode = IBV_WR_SEND, unsigned flags = 0) const {
    return data.faults_of_send(
        &qp,
        {.sg_list = ranges.data(), .num_sge = static_cast<int>(ranges.size()), .opcode = opcode, .send_flags = flags});
  }
  std::vector<Fault> receive(std::vector<ibv_sge> ranges) const {
    return data.faults_of_receive(&qp, {.sg_list = ranges.data(), .num_sge = static_cast<int>(ranges.size())});
  }

  void post(std::uint64_t wr_id, unsigned flags = 0) { data.posted(&qp, {.wr_id = wr_id, .send_flags = flags}); }
  void post_signalled(std::uint64_t wr_id) { post(wr_id, IBV_SEND_SIGNALED); }
  void poll(std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS, ibv_wc_opcode opcode = IBV_WC_SEND) {
    data.polled(number, {.wr_id = wr_id, .status = status, .opcode = opcode});
  }
  std::size_t taken() const { return data.find(&qp)->sends.size(); }
  bool full() const { return ids(send({})) == Ids{"send-queue-full"}; }

  static constexpr ibv_sge good{.addr = begin, .length = length, .lkey = lkey};
  DataPath data;
};

// Requests.

TEST_F(DataPathTest, ACorrectRequestHasNoFault) {
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                     IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    EXPECT_EQ(ids(send({good}, opcode)), Ids{}) << opcode;
  }
  EXPECT_EQ(ids(send({})), Ids{});
  EXPECT_EQ(ids(receive({good})), Ids{});
  EXPECT_EQ(ids(receive({})), Ids{});
}

TEST_F(DataPathTest, AQpThatIsNotKnownIsNotJudged) {
  ibv_sge unknown{.addr = begin, .length = 1, .lkey = 1};
  EXPECT_EQ(ids(data.faults_of_send(&other_qp, {.sg_list = &unknown, .num_sge = 1})), Ids{});
  EXPECT_EQ(ids(data.faults_of_receive(&other_qp, {.sg_list = &unknown, .num_sge = 1})), Ids{});
  data.posted(&other_qp, {});
  data.refused(&other_qp);
  data.set_state(&other_qp, IBV_QPS_RTS);
  data.polled(number + 1, {});
  EXPECT_EQ(data.find(&other_qp), nullptr);
}

TEST_F(DataPathTest, SendsBelongInRts) {
  for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
    data.set_state(&qp, state);
    EXPECT_EQ(ids(send({good})), Ids{"post-wrong-state"}) << state;
  }
  // In the others the device takes it: it waits, or comes back flushed.
  for (const ibv_qp_state state : {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR}) {
    data.set_state(&qp, state);
    EXPECT_EQ(ids(send({good})), Ids{}) << state;
  }
}

TEST_F(DataPathTest, ReceivesBelongInAnyStateButReset) {
  data.set_state(&qp, IBV_QPS_RESET);
  EXPECT_EQ(ids(receive({good})), Ids{"post-wrong-state"});
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR}) {
    data.set_state(&qp, state);
    EXPECT_EQ(ids(receive({good})), Ids{}) << state;
  }
}

TEST_F(DataPathTest, TheStateIsNamed) {
  data.set_state(&qp, IBV_QPS_RTR);
  EXPECT_EQ(send({}).at(0).what, "ibv_post_send on a QP in RTR");
}

TEST_F(DataPathTest, AnUnknownLkey) {
  const ibv_sge unknown{.addr = begin, .length = 1, .lkey = 0x1400};
  EXPECT_EQ(ids(send({unknown})), Ids{"lkey-unknown"});
  EXPECT_EQ(ids(receive({unknown})), Ids{"lkey-unknown"});
  EXPECT_EQ(send({unknown}).at(0).what, "ibv_post_send with lkey 0x1400, which no memory region has now");
}

TEST_F(DataPathTest, AnRkeyInPlaceOfTheLkeyIsNamed) {
  const auto faults = receive({{.addr = begin, .length = 1, .lkey = rkey}});
  ASSERT_EQ(ids(faults), Ids{"lkey-unknown"});
  EXPECT_EQ(faults[0].what, "ibv_post_recv with lkey 0x1300, which is the rkey of a memory region");
}

// Soft-RoCE gives the rkey 0 to a region that the peer may not use.
TEST_F(DataPathTest, AForgottenLkeyIsNoRkey) {
  data.add_region({.mr = &other_mr, .pd = &pd, .begin = begin, .length = length, .lkey = 0x1500, .rkey = 0});
  EXPECT_EQ(send({{.addr = begin, .length = 1}}).at(0).what,
            "ibv_post_send with lkey 0x0, which no memory region has now");
}

TEST_F(DataPathTest, AnLkeyIsUnknownOnceItsRegionIsGone) {
  EXPECT_EQ(data.take_region(&mr).lkey, lkey);
  EXPECT_EQ(ids(send({good})), Ids{"lkey-unknown"});
  EXPECT_EQ(data.take_region(&mr).mr, nullptr);
  add_region({});
  EXPECT_EQ(ids(send({good})), Ids{});
}

TEST_F(DataPathTest, ARegionOfAnotherPd) {
  add_region({.pd = &other_pd});
  EXPECT_EQ(ids(send({good})), Ids{"lkey-other-pd"});
  EXPECT_EQ(ids(receive({good})), Ids{"lkey-other-pd"});
}

// Keys are unique within a device, and a program may open two.
TEST_F(DataPathTest, OfTwoRegionsWithEqualLkeyTheOneOfThePdOfTheQpIsMeant) {
  // On both sides of it: the order of the addresses shall not matter.
  const std::vector<char> places(2);
  for (const void* const place : {static_cast<const void*>(&places[0]), static_cast<const void*>(&places[1])}) {
    DataPath two;
    two.add_qp(&qp, {.number = number, .pd = &pd, .state = IBV_QPS_RTS, .send_depth = depth});
    for (const char& at : places) {
      const bool ours = &at == place;
      two.add_region(
          {.mr = &at, .pd = ours ? &pd : &other_pd, .begin = ours ? begin : 2 * begin, .length = length, .lkey = lkey});
    }
    ibv_sge range = good;
    EXPECT_EQ(ids(two.faults_of_send(&qp, {.sg_list = &range, .num_sge = 1})), Ids{});
    range.addr = 2 * begin;
    EXPECT_EQ(ids(two.faults_of_send(&qp, {.sg_list = &range, .num_sge = 1})), Ids{"sge-outside-mr"});
  }
}

TEST_F(DataPathTest, TheBordersOfARegion) {
  EXPECT_EQ(ids(send({{.addr = begin + length - 1, .length = 1, .lkey = lkey}})), Ids{});
  for (const ibv_sge& outside : std::initializer_list<ibv_sge>{{.addr = begin, .length = length + 1, .lkey = lkey},
                                                               {.addr = begin + 1, .length = length, .lkey = lkey},
                                                               {.addr = begin - 1, .length = 1, .lkey = lkey},
                                                               {.addr = begin - 1, .length = length, .lkey = lkey},
                                                               {.addr = begin + length, .length = 1, .lkey = lkey},
                                                               {.addr = 0, .length = 1, .lkey = lkey},
                                                               {.addr = ~0ULL, .length = 1, .lkey = lkey},
                                                               {.addr = ~0ULL, .length = ~0U, .lkey = lkey}}) {
    EXPECT_EQ(ids(send({outside})), Ids{"sge-outside-mr"}) << outside.addr << " + " << outside.length;
    EXPECT_EQ(ids(receive({outside})), Ids{"sge-outside-mr"}) << outside.addr << " + " << outside.length;
  }
}

TEST_F(DataPathTest, ARegionMayReachToTheEndOfAllAddresses) {
  add_region({.begin = 0, .length = ~0ULL});
  EXPECT_EQ(ids(send({{.addr = ~0ULL - 8, .length = 8, .lkey = lkey}})), Ids{});
}

TEST_F(DataPathTest, WhereARangeLiesIsNamed) {
  EXPECT_EQ(send({{.addr = begin + 8, .length = 60, .lkey = lkey}}).at(0).what,
            "ibv_post_send of 60 bytes at offset 8 of a memory region of 64 bytes");
  EXPECT_EQ(send({{.addr = begin - 8, .length = 60, .lkey = lkey}}).at(0).what,
            "ibv_post_send of 60 bytes from 8 bytes before a memory region of 64 bytes on");
  EXPECT_EQ(receive({{.addr = 0x5000, .length = 60, .lkey = lkey}}).at(0).what,
            "ibv_post_recv of 60 bytes at 0x5000, which is nowhere in a memory region of 64 bytes at 0x10000");
}

TEST_F(DataPathTest, WhatTheDeviceWritesToMustBeWritable) {
  add_region({.access = IBV_ACCESS_REMOTE_READ});
  EXPECT_EQ(ids(receive({good})), Ids{"mr-not-writable"});
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    EXPECT_EQ(ids(send({good}, opcode)), Ids{"mr-not-writable"}) << opcode;
  }
  for (const ibv_wr_opcode opcode :
       {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    EXPECT_EQ(ids(send({good}, opcode)), Ids{}) << opcode;
  }
}

TEST_F(DataPathTest, InlineDataIsNotJudged) {
  EXPECT_EQ(ids(send({{.addr = 1, .length = 8}}, IBV_WR_SEND, IBV_SEND_INLINE)), Ids{});
  EXPECT_EQ(ids(send({{.addr = 1, .length = 8}}, IBV_WR_SEND, IBV_SEND_SIGNALED)), Ids{"lkey-unknown"});
}

TEST_F(DataPathTest, AnEmptyRangeIsNotJudged) {
  EXPECT_EQ(ids(send({{.addr = 1, .length = 0, .lkey = 1}})), Ids{});
  EXPECT_EQ(ids(receive({{.addr = 1, .length = 0, .lkey = 1}})), Ids{});
}

TEST_F(DataPathTest, EachRangeIsJudged) {
  const ibv_sge unknown{.addr = begin, .length = 1, .lkey = 1};
  const ibv_sge outside{.addr = begin + 1, .length = length, .lkey = lkey};
  EXPECT_EQ(ids(send({good, unknown, good, outside})), (Ids{"lkey-unknown", "sge-outside-mr"}));
  EXPECT_EQ(ids(receive({outside, unknown})), (Ids{"sge-outside-mr", "lkey-unknown"}));
}

TEST_F(DataPathTest, EachFaultHasAReasonAndARemedy) {
  add_region({.access = 0});
  std::vector<Fault> faults = receive({good, {.addr = begin, .length = 1, .lkey = 1}, {.length = 1, .lkey = lkey}});
  add_region({.pd = &other_pd});
  for (unsigned i = 0; i < depth; ++i) {
    post(i);
  }
  std::ranges::move(send({good}), std::back_inserter(faults));
  data.set_state(&qp, IBV_QPS_RESET);
  std::ranges::move(send({}), std::back_inserter(faults));
  EXPECT_EQ(ids(faults), (Ids{"mr-not-writable", "lkey-unknown", "sge-outside-mr", "send-queue-full", "lkey-other-pd",
                              "post-wrong-state"}));
  for (const Fault& fault : faults) {
    EXPECT_FALSE(fault.what.empty() || fault.why.empty() || fault.mend.empty()) << fault.id;
  }
}

// The send queue.

TEST_F(DataPathTest, AsManySendsAsTheQueueIsDeep) {
  for (unsigned i = 0; i < depth; ++i) {
    EXPECT_FALSE(full()) << i;
    post(i);
  }
  EXPECT_TRUE(full());
  EXPECT_EQ(send({}).at(0).what, "ibv_post_send of request 5 to a send queue of 4");
}

TEST_F(DataPathTest, AQueueOfNoSendsIsFullAtOnce) {
  data.add_qp(&qp, {.number = number, .pd = &pd, .state = IBV_QPS_RTS, .send_depth = 0});
  EXPECT_TRUE(full());
}

TEST_F(DataPathTest, ReceivesTakeNoSlotOfASend) {
  for (unsigned i = 0; i < depth; ++i) {
    post(i);
  }
  EXPECT_EQ(ids(receive({good})), Ids{});
}

TEST_F(DataPathTest, ASignalledOneGivesBackItsSlotAndAllBeforeIt) {
  post(1);
  post(2);
  post_signalled(3);
  post(4);
  EXPECT_TRUE(full());
  poll(3);
  EXPECT_EQ(taken(), 1U);  // 4 has come after it
  EXPECT_FALSE(full());
}

TEST_F(DataPathTest, AQpWhoseSendsAreAllSignalled) {
  add_qp(IBV_QPS_RTS, true);
  post(1);
  post(2);
  poll(1);
  EXPECT_EQ(taken(), 1U);
  poll(2);
  EXPECT_EQ(taken(), 0U);
}

// Two threads poll, and the one with the later completion is the first to be counted.
TEST_F(DataPathTest, CompletionsCountedOutOfOrder) {
  post_signalled(1);
  post_signalled(2);
  post_signalled(3);
  poll(2);
  EXPECT_EQ(taken(), 1U);
  poll(1);
  EXPECT_EQ(taken(), 1U);
  poll(3);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, EqualWrIdsEndInTheirOrder) {
  for (unsigned i = 0; i < depth; ++i) {
    post_signalled(7);
  }
  for (std::size_t left = depth; left > 0; --left) {
    EXPECT_EQ(taken(), left);
    poll(7);
  }
  EXPECT_EQ(taken(), 0U);
}

// A success that belongs to an unsignalled one cannot be: it is the next signalled one with that wr_id.
TEST_F(DataPathTest, ASuccessIsThatOfASignalledOne) {
  post(7);
  post_signalled(7);
  post(7);
  poll(7);
  EXPECT_EQ(taken(), 1U);
}

TEST_F(DataPathTest, AnErrorOfAnUnsignalledOneGivesBackItsSlotToo) {
  post(1);
  post(2);
  post_signalled(3);
  poll(2, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(taken(), 1U);
  poll(3, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(taken(), 0U);
}

// The opcode of an error is undefined.
TEST_F(DataPathTest, AnErrorIsNotTakenForAReceiveByItsOpcode) {
  post(1);
  poll(1, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, AReceiveGivesBackNoSlotOfASend) {
  post_signalled(1);
  poll(1, IBV_WC_SUCCESS, IBV_WC_RECV);
  poll(1, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(taken(), 1U);
  poll(1, IBV_WC_SUCCESS, IBV_WC_RDMA_READ);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, ACompletionOfNothingChangesNothing) {
  post_signalled(1);
  poll(2);
  data.polled(number + 1, {.wr_id = 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND});
  EXPECT_EQ(taken(), 1U);
}

TEST_F(DataPathTest, ARefusedOneHoldsNoSlot) {
  post_signalled(1);
  post_signalled(2);
  data.refused(&qp);
  EXPECT_EQ(taken(), 1U);
  poll(1);
  EXPECT_EQ(taken(), 0U);
  data.refused(&qp);  // none is there
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, ResetEmptiesTheQueueAndErrDoesNot) {
  post(1);
  data.set_state(&qp, IBV_QPS_ERR);
  EXPECT_EQ(taken(), 1U);
  data.set_state(&qp, IBV_QPS_RESET);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, AProgramThatNeverPollsDoesNotFillTheMemory) {
  for (unsigned i = 0; i < 1000; ++i) {
    post(i);
  }
  EXPECT_LE(taken(), 2 * depth + 1);
  EXPECT_TRUE(full());
  // The last ones are those that are kept.
  post_signalled(1000);
  poll(1000);
  EXPECT_EQ(taken(), 0U);
}

// Numbers are unique within a device, and a program may open two.
TEST_F(DataPathTest, TwoQpsWithEqualNumber) {
  data.add_qp(&other_qp, {.number = number, .pd = &other_pd, .state = IBV_QPS_RTS, .send_depth = depth});
  post_signalled(1);
  poll(1);
  EXPECT_EQ(taken(), 0U);
  // The one goes, and the other is still found.
  post_signalled(2);
  EXPECT_EQ(data.take_qp(&other_qp).number, number);
  poll(2);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(DataPathTest, ADestroyedQpIsForgotten) {
  post_signalled(1);
  EXPECT_EQ(data.take_qp(&qp).sends.size(), 1U);
  EXPECT_EQ(data.find(&qp), nullptr);
  poll(1);
  EXPECT_EQ(data.take_qp(&qp).pd, nullptr);
}

// The library may give the same address again.
TEST_F(DataPathTest, ANewQpAtAnOldAddressBeginsEmpty) {
  post_signalled(7);
  data.add_qp(&qp, {.number = number + 1, .pd = &pd, .state = IBV_QPS_RTS, .send_depth = depth});
  EXPECT_EQ(taken(), 0U);
  post_signalled(7);
  poll(7);  // of the old number
  EXPECT_EQ(taken(), 1U);
}

}  // namespace
