// tools/verbs-check datapath: what is wrong with a request, and how many slots of a send queue are taken.
#include "datapath.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
constexpr int cq{};
constexpr int other_cq{};
constexpr int srq{};

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
    data.add_cq(&cq, 100);
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
    data.add_qp(&qp, {.number = number,
                      .pd = &pd,
                      .send_cq = &cq,
                      .recv_cq = &cq,
                      .state = state,
                      .asked = {.max_send_wr = depth,
                                .max_recv_wr = depth,
                                .max_send_sge = 4,
                                .max_recv_sge = 4,
                                .max_inline_data = 64},
                      .all_signalled = all_signalled});
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

  void post(std::uint64_t wr_id, unsigned flags = 0) {
    data.posted(&qp, ibv_send_wr{.wr_id = wr_id, .send_flags = flags}, nullptr);
  }
  void post_signalled(std::uint64_t wr_id) { post(wr_id, IBV_SEND_SIGNALED); }
  void poll(std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS, ibv_wc_opcode opcode = IBV_WC_SEND) {
    data.polled(&cq, {.wr_id = wr_id, .status = status, .opcode = opcode, .qp_num = number});
  }
  std::size_t taken() const { return data.find(&qp)->sends.size(); }
  bool full() const { return ids(send({})) == Ids{"send-queue-full"}; }

  static constexpr ibv_sge good{.addr = begin, .length = length, .lkey = lkey};
  static constexpr ibv_sge eight{.addr = begin, .length = 8, .lkey = lkey};  // also for an atomic
  DataPath data;
};

// Requests.

TEST_F(DataPathTest, ACorrectRequestHasNoFault) {
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                     IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    EXPECT_EQ(ids(send({eight}, opcode)), Ids{}) << opcode;
  }
  EXPECT_EQ(ids(send({})), Ids{});
  EXPECT_EQ(ids(receive({good})), Ids{});
  EXPECT_EQ(ids(receive({})), Ids{});
}

TEST_F(DataPathTest, AQpThatIsNotKnownIsNotJudged) {
  ibv_sge unknown{.addr = begin, .length = 1, .lkey = 1};
  EXPECT_EQ(ids(data.faults_of_send(&other_qp, {.sg_list = &unknown, .num_sge = 1})), Ids{});
  EXPECT_EQ(ids(data.faults_of_receive(&other_qp, {.sg_list = &unknown, .num_sge = 1})), Ids{});
  data.posted(&other_qp, ibv_send_wr{}, nullptr);
  data.refused_send(&other_qp);
  data.set_state(&other_qp, IBV_QPS_RTS);
  data.polled(&cq, {.qp_num = number + 1});
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
    two.add_qp(&qp,
               {.number = number, .pd = &pd, .state = IBV_QPS_RTS, .asked = {.max_send_wr = depth, .max_send_sge = 4}});
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
    EXPECT_EQ(ids(send({eight}, opcode)), Ids{"mr-not-writable"}) << opcode;
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
  data.add_qp(&qp, {.number = number, .pd = &pd, .send_cq = &cq, .recv_cq = &cq, .state = IBV_QPS_RTS});
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
  data.polled(&cq, {.wr_id = 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND, .qp_num = number + 1});
  EXPECT_EQ(taken(), 1U);
}

TEST_F(DataPathTest, ARefusedOneHoldsNoSlot) {
  post_signalled(1);
  post_signalled(2);
  data.refused_send(&qp);
  EXPECT_EQ(taken(), 1U);
  poll(1);
  EXPECT_EQ(taken(), 0U);
  data.refused_send(&qp);  // none is there
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

TEST_F(DataPathTest, ReceivesThatNobodySeesCompleteDoNotFillTheMemory) {
  data.add_srq(&srq, {.pd = &pd, .depth = depth, .max_sge = 1});
  data.unwatch_cq(&cq);  // polled through the extended interface
  for (unsigned i = 0; i < 1000; ++i) {
    data.posted(&qp, ibv_recv_wr{.wr_id = i}, nullptr);
    data.posted_srq(&srq, ibv_recv_wr{.wr_id = i}, nullptr);
  }
  EXPECT_LE(data.find(&qp)->receives.size(), 2 * depth + 1);
  EXPECT_EQ(data.find(&qp)->receives.back().wr_id, 999U);
  EXPECT_LE(data.find_cq(&cq)->outstanding, 2 * depth + 1);
}

// Numbers are unique within a device, and a program may open two.
TEST_F(DataPathTest, TwoQpsWithEqualNumber) {
  data.add_cq(&other_cq, 100);
  data.add_qp(&other_qp, {.number = number,
                          .pd = &other_pd,
                          .send_cq = &other_cq,
                          .recv_cq = &other_cq,
                          .state = IBV_QPS_RTS,
                          .asked = {.max_send_wr = depth, .max_send_sge = 4}});
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
  data.add_qp(&qp, {.number = number + 1,
                    .pd = &pd,
                    .send_cq = &cq,
                    .recv_cq = &cq,
                    .state = IBV_QPS_RTS,
                    .asked = {.max_send_wr = depth, .max_send_sge = 4}});
  EXPECT_EQ(taken(), 0U);
  post_signalled(7);
  poll(7);  // of the old number
  EXPECT_EQ(taken(), 1U);
}

// Receives.

class ReceiveTest : public DataPathTest {
protected:
  void post_receive(std::uint64_t wr_id, ibv_sge range = good) {
    data.posted(&qp, ibv_recv_wr{.wr_id = wr_id, .sg_list = &range, .num_sge = 1}, at(wr_id));
  }
  std::vector<Fault> poll_receive(std::uint64_t wr_id) {
    return data.polled(&cq, {.wr_id = wr_id, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV, .qp_num = number});
  }
  static const void* at(std::uint64_t wr_id) { return &places.at(wr_id); }
  static constexpr std::array<char, 200> places{};
};

TEST_F(ReceiveTest, TheReceiveQueueIsFull) {
  for (std::uint64_t i = 0; i < depth; ++i) {
    EXPECT_EQ(ids(receive({good})), Ids{});
    post_receive(i);
  }
  EXPECT_EQ(ids(receive({good})), Ids{"receive-queue-full"});
  poll_receive(0);
  EXPECT_EQ(ids(receive({good})), Ids{});
  data.refused_receive(&qp);
  EXPECT_EQ(data.find(&qp)->receives.size(), depth - 2);
}

TEST_F(ReceiveTest, WithASharedQueueThereIsNoneThatCouldBeFull) {
  data.find(&qp)->asked.max_recv_wr = 0;
  EXPECT_EQ(ids(receive({good})), Ids{"receive-queue-full"});
  data.find(&qp)->asked.max_recv_sge = 0;
  data.find(&qp)->srq = &srq;
  EXPECT_EQ(ids(receive({good})), Ids{});  // the verb itself refuses
}

TEST_F(ReceiveTest, ASharedQueueHasItsOwnDepth) {
  data.add_srq(&srq, {.pd = &pd, .depth = 1, .max_sge = 1});
  ibv_sge range = good;
  const ibv_recv_wr request{.wr_id = 1, .sg_list = &range, .num_sge = 1};
  EXPECT_EQ(ids(data.faults_of_srq_receive(&srq, request)), Ids{});
  data.posted_srq(&srq, request, nullptr);
  EXPECT_EQ(ids(data.faults_of_srq_receive(&srq, request)), Ids{"receive-queue-full"});
  data.refused_srq(&srq);
  EXPECT_EQ(ids(data.faults_of_srq_receive(&srq, request)), Ids{});
}

TEST_F(ReceiveTest, TwoMessagesInOneBuffer) {
  post_receive(1);
  post_receive(2);
  EXPECT_EQ(ids(poll_receive(1)), Ids{});
  const auto faults = poll_receive(2);
  EXPECT_EQ(ids(faults), Ids{"receive-buffer-shared"});
  EXPECT_EQ(faults.at(0).where, at(2));
}

TEST_F(ReceiveTest, AnAnswerBetweenMakesItSafe) {
  post_receive(1);
  post_receive(2);
  poll_receive(1);
  post_signalled(9);
  EXPECT_EQ(ids(poll_receive(2)), Ids{});
}

TEST_F(ReceiveTest, PostingAgainAfterwardsIsSafe) {
  post_receive(1);
  poll_receive(1);
  post_receive(2);
  EXPECT_EQ(ids(poll_receive(2)), Ids{});
}

TEST_F(ReceiveTest, BuffersSideBySideAreSafe) {
  post_receive(1, {.addr = begin, .length = 8, .lkey = lkey});
  post_receive(2, {.addr = begin + 8, .length = 8, .lkey = lkey});
  poll_receive(1);
  EXPECT_EQ(ids(poll_receive(2)), Ids{});
}

TEST_F(ReceiveTest, ADatagramNeedsRoomForTheGrh) {
  data.find(&qp)->type = IBV_QPT_UD;
  EXPECT_EQ(ids(receive({{.addr = begin, .length = 39, .lkey = lkey}})), Ids{"ud-no-room-for-grh"});
  EXPECT_EQ(ids(receive({{.addr = begin, .length = 40, .lkey = lkey}})), Ids{});  // for a message of no bytes
}

// The completion queue.

TEST_F(ReceiveTest, MoreCompletionsThanTheCqHolds) {
  data.find_cq(&cq)->entries = 2;
  post_receive(1);
  post_signalled(2);
  EXPECT_EQ(ids(receive({good})), Ids{"cq-overrun"});
  EXPECT_EQ(ids(send({good}, IBV_WR_SEND, IBV_SEND_SIGNALED)), Ids{"cq-overrun"});
  EXPECT_EQ(ids(send({good})), Ids{});  // leaves none
  poll(2);
  EXPECT_EQ(ids(receive({good})), Ids{});
}

TEST_F(ReceiveTest, WhatGoesAwayLeavesRoomInTheCq) {
  post_receive(1);
  post_signalled(2);
  EXPECT_EQ(data.find_cq(&cq)->outstanding, 2U);
  data.refused_send(&qp);
  EXPECT_EQ(data.find_cq(&cq)->outstanding, 1U);
  data.set_state(&qp, IBV_QPS_RESET);
  EXPECT_EQ(data.find_cq(&cq)->outstanding, 0U);
  post_receive(1);
  data.take_qp(&qp);
  EXPECT_EQ(data.find_cq(&cq)->outstanding, 0U);
}

// What a queue pair does not offer.

TEST_F(DataPathTest, OperationsOfTheType) {
  data.find(&qp)->type = IBV_QPT_UD;
  data.find(&qp)->attributes.path_mtu = IBV_MTU_1024;
  EXPECT_EQ(ids(send({good}, IBV_WR_RDMA_WRITE)), Ids{"opcode-not-offered"});
  EXPECT_EQ(ids(send({good})), Ids{});
  data.find(&qp)->type = IBV_QPT_UC;
  EXPECT_EQ(ids(send({good}, IBV_WR_RDMA_READ)), Ids{"opcode-not-offered"});
  EXPECT_EQ(ids(send({good}, IBV_WR_RDMA_WRITE)), Ids{});
}

TEST_F(DataPathTest, MoreThanWasAskedFor) {
  data.find(&qp)->asked.max_send_sge = 1;
  data.find(&qp)->asked.max_recv_sge = 1;
  data.find(&qp)->asked.max_inline_data = 10;
  EXPECT_EQ(ids(send({good, good})), Ids{"sge-too-many"});
  EXPECT_EQ(ids(receive({good, good})), Ids{"sge-too-many"});
  EXPECT_EQ(ids(send({{.addr = begin, .length = 11}}, IBV_WR_SEND, IBV_SEND_INLINE)), Ids{"inline-too-long"});
  EXPECT_EQ(ids(send({{.addr = begin, .length = 10}}, IBV_WR_SEND, IBV_SEND_INLINE)), Ids{});
}

TEST_F(DataPathTest, LongMessages) {
  data.find(&qp)->max_message = length - 1;
  EXPECT_EQ(ids(send({good})), Ids{"message-too-long"});
  data.find(&qp)->max_message = length;
  EXPECT_EQ(ids(send({good})), Ids{});
  data.find(&qp)->max_message = 1U << 20U;
  data.find(&qp)->type = IBV_QPT_UD;
  data.find(&qp)->attributes.path_mtu = IBV_MTU_256;
  EXPECT_EQ(ids(send({good, good, good, good})), Ids{});
  data.find(&qp)->asked.max_send_sge = 8;
  EXPECT_EQ(ids(send({good, good, good, good, good})), Ids{"ud-above-mtu"});
}

TEST_F(DataPathTest, AtomicsAreEightAlignedBytes) {
  ibv_sge range = eight;
  ibv_send_wr request{.sg_list = &range, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
  request.wr.atomic.remote_addr = 16;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{});
  request.wr.atomic.remote_addr = 12;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{"atomic-misaligned"});
  request.wr.atomic.remote_addr = 16;
  range.length = 4;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{"atomic-misaligned"});
  range.length = 8;
  data.find(&qp)->attributes.max_rd_atomic = 0;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{"rd-atomic-zero"});
}

TEST_F(DataPathTest, TheLkeyInPlaceOfTheRkey) {
  ibv_sge range = good;
  ibv_send_wr request{.sg_list = &range, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  request.wr.rdma.rkey = lkey;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{"rkey-is-lkey"});
  request.wr.rdma.rkey = rkey;
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{});
  request.wr.rdma.rkey = 0x99;  // the peer's
  EXPECT_EQ(ids(data.faults_of_send(&qp, request)), Ids{});
}

// Memory while a request is under way.

class InFlightTest : public ReceiveTest {
protected:
  InFlightTest() {
    data.add_region({.mr = &mr,
                     .pd = &pd,
                     .begin = address(),
                     .length = memory.size(),
                     .access = IBV_ACCESS_LOCAL_WRITE,
                     .lkey = lkey,
                     .rkey = rkey});
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory.data()); }
  void send_memory(std::uint64_t wr_id, unsigned flags) {
    ibv_sge range{.addr = address(), .length = 64, .lkey = lkey};
    data.posted(&qp, {.wr_id = wr_id, .sg_list = &range, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = flags},
                at(wr_id));
  }
  std::vector<Fault> poll_send(std::uint64_t wr_id) {
    return data.polled(&cq, {.wr_id = wr_id, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND, .qp_num = number});
  }
  bool freed() { return data.fault_of_free(address() + 63, address() + 100, "free").has_value(); }

  std::array<char, 128> memory{};
};

TEST_F(InFlightTest, AChangedPayload) {
  send_memory(1, IBV_SEND_SIGNALED);
  memory[63] = 1;
  const auto faults = poll_send(1);
  EXPECT_EQ(ids(faults), Ids{"payload-changed"});
  EXPECT_EQ(faults.at(0).where, at(1));
}

TEST_F(InFlightTest, WhatIsBesideItMayChange) {
  send_memory(1, IBV_SEND_SIGNALED);
  memory[64] = 1;
  EXPECT_EQ(ids(poll_send(1)), Ids{});
}

TEST_F(InFlightTest, InlineDataMayChangeAtOnce) {
  send_memory(1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
  memory[0] = 1;
  EXPECT_EQ(ids(poll_send(1)), Ids{});
}

TEST_F(InFlightTest, AnUnsignalledSendIsLookedAtWhenALaterOneCompletes) {
  send_memory(1, 0);
  memory[0] = 1;
  send_memory(2, IBV_SEND_SIGNALED);
  const auto faults = poll_send(2);
  EXPECT_EQ(ids(faults), Ids{"payload-changed"});
  EXPECT_EQ(faults.at(0).where, at(1));
}

TEST_F(InFlightTest, AnAnswerShowsThatAnUnsignalledSendHadArrived) {
  post_receive(5);
  send_memory(1, 0);
  poll_receive(5);
  memory[0] = 1;
  send_memory(2, IBV_SEND_SIGNALED);
  EXPECT_EQ(ids(poll_send(2)), Ids{});
}

TEST_F(InFlightTest, MemoryThatIsDeregistered) {
  EXPECT_FALSE(data.fault_of_dereg(&mr));
  send_memory(1, IBV_SEND_SIGNALED);
  EXPECT_EQ(data.fault_of_dereg(&mr)->id, "dereg-in-flight");
  poll_send(1);
  EXPECT_FALSE(data.fault_of_dereg(&mr));
}

TEST_F(InFlightTest, MemoryThatIsFreed) {
  EXPECT_FALSE(freed());
  send_memory(1, IBV_SEND_SIGNALED);
  EXPECT_FALSE(data.fault_of_free(address() + 64, address() + 100, "free"));  // beside it
  EXPECT_FALSE(data.fault_of_free(1, 2, "free"));
  EXPECT_TRUE(freed());
  poll_send(1);
  EXPECT_FALSE(freed());
}

TEST_F(InFlightTest, WhatBecomesOfARequestWithoutItsMemoryIsNoNews) {
  send_memory(1, IBV_SEND_SIGNALED);
  EXPECT_TRUE(data.fault_of_dereg(&mr));
  EXPECT_FALSE(freed());
  EXPECT_EQ(ids(data.polled(&cq, {.wr_id = 1, .status = IBV_WC_LOC_QP_OP_ERR, .qp_num = number})), Ids{});
}

TEST_F(InFlightTest, FreedMemoryIsNotLookedAt) {
  for (const unsigned flags : {0U, static_cast<unsigned>(IBV_SEND_SIGNALED)}) {
    send_memory(1, flags);
    EXPECT_EQ(freed(), flags != 0);
    memory[0] = static_cast<char>(memory[0] + 1);
    send_memory(2, IBV_SEND_SIGNALED);
    EXPECT_EQ(ids(poll_send(2)), Ids{}) << flags;
  }
}

TEST_F(InFlightTest, AReceiveKeepsItsMemoryUntilTheQpIsInErr) {
  post_receive(1, {.addr = address(), .length = 64, .lkey = lkey});
  EXPECT_TRUE(data.fault_of_dereg(&mr));
  post_receive(2, {.addr = address(), .length = 64, .lkey = lkey});
  EXPECT_TRUE(freed());
  post_receive(3, {.addr = address(), .length = 64, .lkey = lkey});
  data.set_state(&qp, IBV_QPS_ERR);
  EXPECT_FALSE(data.fault_of_dereg(&mr));
  EXPECT_FALSE(freed());
}

TEST_F(InFlightTest, AnUnsignalledSendMayBeDone) {
  send_memory(1, 0);
  EXPECT_FALSE(data.fault_of_dereg(&mr));
}

TEST_F(InFlightTest, AddressesThatCannotBeRegistered) {
  const auto byte = [] { return 1U; };
  EXPECT_TRUE(data.may_be_registered(address(), byte));
  EXPECT_FALSE(data.may_be_registered(UINT64_MAX - 1, byte));
  EXPECT_FALSE(data.may_be_registered(1, byte));
  EXPECT_TRUE(data.may_be_registered(1, [&] { return address(); }));  // it reaches into one
}

// Failures.

class FailureTest : public ReceiveTest {
protected:
  // Polls a failure of what was posted, and returns the finding's id and why.
  std::string failed(ibv_wc_status status, std::uint64_t wr_id = 1) {
    const auto faults = data.polled(&cq, {.wr_id = wr_id, .status = status, .qp_num = number});
    return faults.empty() ? "" : faults.at(0).id + ": " + faults.at(0).why;
  }
  // The QP's peer is a second one of this process.
  void add_peer(ibv_qp_state state) {
    data.add_qp(&other_qp, {.number = 0x22,
                            .pd = &other_pd,
                            .send_cq = &cq,
                            .recv_cq = &cq,
                            .state = state,
                            .asked = {.max_recv_wr = depth, .max_recv_sge = 1}});
    data.find(&other_qp)->attributes.dest_qp_num = number;
    data.find(&qp)->attributes.dest_qp_num = 0x22;
    data.find(&other_qp)->attributes.to_own_address = true;
    data.find(&qp)->attributes.to_own_address = true;
  }
};

TEST_F(FailureTest, IsExplainedOnceAQp) {
  post_signalled(1);
  post_signalled(2);
  EXPECT_TRUE(failed(IBV_WC_RETRY_EXC_ERR).starts_with("wc-retry-exc-err: likely, in this order: "));
  EXPECT_EQ(failed(IBV_WC_WR_FLUSH_ERR, 2), "");
  EXPECT_EQ(data.find(&qp)->state, IBV_QPS_ERR);
  EXPECT_EQ(ids(send({good})), Ids{"error-ignored"});
  EXPECT_EQ(ids(receive({good})), Ids{"error-ignored"});
  data.set_state(&qp, IBV_QPS_RESET);
  data.set_state(&qp, IBV_QPS_RTS);
  EXPECT_EQ(ids(send({good})), Ids{});
}

TEST_F(FailureTest, WhatTheProgramHasAskedForIsNone) {
  post_receive(1);
  data.set_state(&qp, IBV_QPS_ERR);
  EXPECT_EQ(failed(IBV_WC_WR_FLUSH_ERR), "");
  EXPECT_EQ(ids(receive({good})), Ids{});
}

TEST_F(FailureTest, WhatWasFaultyWhenItWasPostedIsNoNews) {
  data.posted(&qp, ibv_send_wr{.wr_id = 1, .send_flags = IBV_SEND_SIGNALED}, nullptr, true);
  EXPECT_EQ(failed(IBV_WC_LOC_QP_OP_ERR), "");
}

TEST_F(FailureTest, KnowsThePeerOfTheSameProcess) {
  add_peer(IBV_QPS_INIT);
  post_signalled(1);
  EXPECT_EQ(failed(IBV_WC_RETRY_EXC_ERR), "wc-retry-exc-err: the cause: the QP at the other end is still in INIT");
}

// A QP of another host may have the number of one of this process.
TEST_F(FailureTest, AnotherHostIsNotThisProcess) {
  add_peer(IBV_QPS_INIT);
  data.find(&qp)->attributes.to_own_address = false;
  post_signalled(1);
  EXPECT_TRUE(failed(IBV_WC_RETRY_EXC_ERR).starts_with("wc-retry-exc-err: likely, in this order: no QP 0x22 "));
}

TEST_F(FailureTest, NamesTheOtherEnd) {
  add_peer(IBV_QPS_INIT);
  post_signalled(1);
  const auto faults = data.polled(&cq, {.wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR, .qp_num = number});
  EXPECT_EQ(faults.at(0).objects, std::vector<const void*>{&other_qp});
}

TEST_F(FailureTest, IsNoNewsAtTheOtherEnd) {
  add_peer(IBV_QPS_RTS);
  post_signalled(1);
  data.posted(&other_qp, ibv_recv_wr{.wr_id = 2}, nullptr);
  const auto at_peer = [&] { return data.polled(&cq, {.wr_id = 2, .status = IBV_WC_LOC_QP_OP_ERR, .qp_num = 0x22}); };
  EXPECT_EQ(ids(at_peer()), Ids{"wc-loc-qp-op-err"});
  EXPECT_EQ(failed(IBV_WC_REM_OP_ERR), "");
}

TEST_F(FailureTest, AtAnotherConnectionIsNews) {
  add_peer(IBV_QPS_RTS);
  data.find(&other_qp)->attributes.dest_qp_num = 0x33;
  data.find(&other_qp)->failed = IBV_WC_LOC_QP_OP_ERR;
  post_signalled(1);
  EXPECT_TRUE(failed(IBV_WC_REM_OP_ERR).starts_with("wc-rem-op-err: "));
}

TEST_F(FailureTest, KnowsThatThePeerIsConnectedToAnother) {
  add_peer(IBV_QPS_RTR);
  data.find(&other_qp)->attributes.dest_qp_num = 0x33;
  post_signalled(1);
  EXPECT_EQ(failed(IBV_WC_RETRY_EXC_ERR),
            "wc-retry-exc-err: the cause: the QP at the other end is connected to another QP, not to this one");
}

TEST_F(FailureTest, KnowsThatTheFirstPacketsDiffer) {
  add_peer(IBV_QPS_RTR);
  data.find(&qp)->attributes.sq_psn = 0x100;
  data.find(&other_qp)->attributes.rq_psn = 0x200;
  post_signalled(1);
  EXPECT_EQ(failed(IBV_WC_RETRY_EXC_ERR),
            "wc-retry-exc-err: the cause: this QP begins with sq_psn 0x100, and the other expects rq_psn 0x200");
}

TEST_F(FailureTest, WarnsOfTheOpcodeOfAFailedCompletion) {
  add_peer(IBV_QPS_RTR);
  post_signalled(1);
  const auto faults = data.polled(&cq, {.wr_id = 1, .status = IBV_WC_RNR_RETRY_EXC_ERR, .qp_num = number});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].mend.find("only wr_id, status, qp_num and vendor_err mean anything, not its opcode"),
            std::string::npos);
}

TEST_F(FailureTest, KnowsThatThePeerHasNoReceive) {
  add_peer(IBV_QPS_RTR);
  data.find(&qp)->attributes.rnr_retry = 3;
  post_signalled(1);
  EXPECT_EQ(failed(IBV_WC_RNR_RETRY_EXC_ERR),
            "wc-rnr-retry-exc-err: the cause: the other end has no receive posted, and rnr_retry 3 of this QP is used "
            "up");
}

TEST_F(FailureTest, KnowsTheMemoryOfThePeer) {
  const auto write = [&](std::uint64_t remote_addr, std::uint32_t key) {
    data.set_state(&qp, IBV_QPS_RESET);
    data.set_state(&qp, IBV_QPS_RTS);
    ibv_sge range = good;
    // Inline: there is nothing at the address.
    ibv_send_wr request{
        .wr_id = 1, .sg_list = &range, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE};
    request.wr.rdma.remote_addr = remote_addr;
    request.wr.rdma.rkey = key;
    data.posted(&qp, request, nullptr);
    return failed(IBV_WC_REM_ACCESS_ERR);
  };
  add_peer(IBV_QPS_RTS);
  EXPECT_EQ(write(begin, 0x99), "wc-rem-access-err: the cause: no memory region has the rkey 0x99 now");
  EXPECT_EQ(write(begin, 0x00130000),
            "wc-rem-access-err: the cause: the bytes of the rkey 0x130000 are swapped: it is 0x1300");
  EXPECT_EQ(write(begin, 0),
            "wc-rem-access-err: the cause: the rkey is 0: the memory region at the remote address was registered "
            "without IBV_ACCESS_REMOTE_WRITE, and has none");
  EXPECT_EQ(write(begin + length, 0), "wc-rem-access-err: the cause: no memory region has the rkey 0x0 now");
  EXPECT_EQ(write(begin, rkey),
            "wc-rem-access-err: the cause: the memory region belongs to another PD than the peer's QP");
  data.find(&other_qp)->pd = &pd;
  EXPECT_EQ(
      write(begin + 1, rkey),
      "wc-rem-access-err: the cause: 64 bytes at the remote address are not all in the memory region of 64 bytes");
  EXPECT_EQ(write(begin, rkey),
            "wc-rem-access-err: the cause: the memory region was registered without IBV_ACCESS_REMOTE_WRITE");
}

TEST_F(FailureTest, KnowsThatTheReceiveIsTooShort) {
  add_peer(IBV_QPS_RTS);
  ibv_sge range{.addr = begin, .length = 8, .lkey = lkey};
  data.posted(&other_qp, ibv_recv_wr{.wr_id = 3, .sg_list = &range, .num_sge = 1}, nullptr);
  range.length = 9;
  data.posted(
      &qp,
      ibv_send_wr{.wr_id = 1, .sg_list = &range, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE},
      nullptr);
  EXPECT_EQ(failed(IBV_WC_REM_OP_ERR),
            "wc-rem-op-err: the cause: the message of 9 bytes is longer than the receive of the peer");
}

TEST_F(FailureTest, KnowsThatThePeerSendsLargerPackets) {
  add_peer(IBV_QPS_RTS);
  data.find(&qp)->attributes.path_mtu = IBV_MTU_256;
  data.find(&other_qp)->attributes.path_mtu = IBV_MTU_4096;
  post_receive(1);
  EXPECT_EQ(failed(IBV_WC_LOC_LEN_ERR), "wc-loc-len-err: the cause: path_mtu is 256 here and 4096 at the other end");
}

TEST_F(FailureTest, KnowsWhyAReceiveWasFlushed) {
  add_peer(IBV_QPS_RTS);
  data.find(&other_qp)->pd = &pd;
  post_receive(1);
  ibv_sge range = good;
  ibv_send_wr request{
      .wr_id = 2, .sg_list = &range, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE};
  request.wr.rdma = {.remote_addr = begin + 8, .rkey = rkey};
  data.posted(&other_qp, request, nullptr);
  EXPECT_EQ(failed(IBV_WC_WR_FLUSH_ERR),
            "wc-flush-err: the cause: the peer's IBV_WR_RDMA_WRITE before was refused by this side: 64 bytes at the "
            "remote address are not all in the memory region of 64 bytes");
}

// Waiting in vain.

TEST_F(ReceiveTest, WaitingForNothing) {
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-nothing-posted");
  data.take_qp(&qp);
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-nothing-posted");
  EXPECT_FALSE(data.fault_of_waiting(&other_cq, 0));  // not known
}

TEST_F(ReceiveTest, WaitingForWhatIsUnsignalled) {
  post(1);
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-unsignalled");
}

TEST_F(ReceiveTest, WaitingForAnAnswer) {
  const std::uint64_t before = data.sequence();
  post_signalled(1);
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-no-answer");
  EXPECT_FALSE(data.fault_of_waiting(&cq, before));  // it was posted since
}

TEST_F(ReceiveTest, WaitingForAMessageIsNoMistake) {
  post_receive(1);
  EXPECT_FALSE(data.fault_of_waiting(&cq, data.sequence()));
  post(2);
  EXPECT_FALSE(data.fault_of_waiting(&cq, data.sequence()));
  data.set_state(&qp, IBV_QPS_INIT);
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-not-connected");
}

TEST_F(ReceiveTest, WaitingAtTheWrongCq) {
  data.add_cq(&other_cq, 10);
  data.add_qp(&other_qp, {.number = 0x22, .pd = &pd, .send_cq = &other_cq, .recv_cq = &cq, .state = IBV_QPS_RTS});
  data.take_qp(&qp);
  data.posted(&other_qp, ibv_send_wr{.wr_id = 1, .send_flags = IBV_SEND_SIGNALED}, nullptr);
  EXPECT_EQ(data.fault_of_waiting(&cq, data.sequence())->id, "wait-wrong-cq");
  EXPECT_EQ(data.fault_of_waiting(&other_cq, data.sequence())->id, "wait-no-answer");
}

// What is used in ways that are not modelled is not judged.
TEST_F(ReceiveTest, NotWatched) {
  data.find(&qp)->is_watched = false;
  data.set_state(&qp, IBV_QPS_INIT);
  EXPECT_EQ(ids(send({good})), Ids{});
  EXPECT_EQ(ids(receive({good})), Ids{});
  EXPECT_FALSE(data.fault_of_waiting(&cq, data.sequence()));
}

}  // namespace
