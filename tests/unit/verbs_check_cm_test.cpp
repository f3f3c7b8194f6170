// What the checker knows of the connection identifiers of rdma_cm.
#include "cm.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace {

using namespace verbs_check;

const int place = 0;
const int call = 0;
const void* const id = &place;

std::string fault_id(Cm& cm, std::string_view verb) {
  const auto fault = cm.fault_of(id, verb);
  return fault ? fault->id : "";
}

TEST(VerbsCheckCm, AClientGoesStepByStep) {
  Cm cm;
  cm.add(id, Step::idle, false);
  EXPECT_TRUE(cm.has_unbound());
  EXPECT_EQ(fault_id(cm, "rdma_resolve_addr"), "");
  EXPECT_EQ(fault_id(cm, "rdma_resolve_route"), "cm-wrong-order");
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "cm-wrong-order");
  cm.came(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, "", &call);
  EXPECT_FALSE(cm.has_unbound());
  EXPECT_EQ(fault_id(cm, "rdma_resolve_route"), "");
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "cm-wrong-order");
  cm.came(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, "", &call);
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "");
  cm.done(id, "rdma_connect");
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "cm-wrong-order");
  EXPECT_TRUE(cm.take_refusals(nullptr).empty());
}

TEST(VerbsCheckCm, ARequestIsAcceptedOnce) {
  Cm cm;
  cm.add(id, Step::request, false);
  EXPECT_EQ(fault_id(cm, "rdma_accept"), "");
  cm.done(id, "rdma_accept");
  EXPECT_EQ(fault_id(cm, "rdma_accept"), "cm-wrong-order");
  EXPECT_EQ(fault_id(cm, "rdma_disconnect"), "");
}

TEST(VerbsCheckCm, AFailureThatIsNotLookedAtIsAFindingOfTheNextStep) {
  Cm cm;
  cm.add(id, Step::idle, false);
  cm.came(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, "192.0.2.99, port 1", &call);
  const auto fault = cm.fault_of(id, "rdma_resolve_route");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->id, "cm-event-ignored-failure");
  EXPECT_NE(fault->what.find("RDMA_CM_EVENT_ADDR_ERROR, status -110, for 192.0.2.99, port 1"), std::string::npos);
  EXPECT_TRUE(cm.take_refusals(nullptr).empty()) << "said once";
}

TEST(VerbsCheckCm, AFailureThatIsLookedAtIsExplainedOnce) {
  Cm cm;
  cm.add(id, Step::route, false);
  cm.done(id, "rdma_connect");
  cm.came(id, RDMA_CM_EVENT_REJECTED, 8, "192.0.2.1, port 1", &call);
  EXPECT_TRUE(cm.take_refusals(&call).empty()) << "of another one";
  const auto faults = cm.take_refusals(id);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].id, "cm-refused");
  EXPECT_EQ(faults[0].where, &call);
  EXPECT_NE(faults[0].why.find("nobody listens"), std::string::npos);
  EXPECT_TRUE(cm.take_refusals(id).empty());
}

TEST(VerbsCheckCm, ASecondTryOfAResolutionIsAllowed) {
  Cm cm;
  cm.add(id, Step::idle, false);
  cm.came(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, "", &call);
  EXPECT_EQ(fault_id(cm, "rdma_resolve_addr"), "");
  cm.done(id, "rdma_resolve_addr");
  cm.came(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, "", &call);
  cm.came(id, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, "", &call);
  EXPECT_EQ(fault_id(cm, "rdma_resolve_route"), "");
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "cm-event-ignored-failure");
}

TEST(VerbsCheckCm, KnowsFailuresByTypeAndStatus) {
  EXPECT_TRUE(is_failure(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
  EXPECT_TRUE(is_failure(RDMA_CM_EVENT_ESTABLISHED, 1));
  EXPECT_FALSE(is_failure(RDMA_CM_EVENT_ESTABLISHED, 0));
  EXPECT_FALSE(is_failure(RDMA_CM_EVENT_DISCONNECTED, 0));
  EXPECT_FALSE(is_failure(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
  EXPECT_STREQ(event_name(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
  EXPECT_STREQ(event_name(RDMA_CM_EVENT_TIMEWAIT_EXIT), "RDMA_CM_EVENT_TIMEWAIT_EXIT");
}

TEST(VerbsCheckCm, KnowsTheRoomForPrivateData) {
  EXPECT_EQ(private_data_limit("rdma_connect", RDMA_PS_TCP), 56U);
  EXPECT_EQ(private_data_limit("rdma_accept", RDMA_PS_TCP), 196U);
  EXPECT_EQ(private_data_limit("rdma_connect", RDMA_PS_UDP), 180U);
  EXPECT_EQ(private_data_limit("rdma_connect", RDMA_PS_IB), 0U);
}

TEST(VerbsCheckCm, ExplainsAnAddressThatNoInterfaceHas) {
  Cm cm;
  cm.add(id, Step::idle, false);
  cm.failed(id, no_such_address("rdma_bind_addr"), &call);
  const std::vector<Fault> refusals = cm.take_refusals(id);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].id, "cm-refused");
  EXPECT_EQ(refusals[0].what, "there is no connection: rdma_bind_addr answers EADDRNOTAVAIL");
  EXPECT_TRUE(refusals[0].why.starts_with("no interface of this host has the address"));
}

TEST(VerbsCheckCm, AnUnknownIdentifierIsNotJudged) {
  Cm cm;
  EXPECT_EQ(fault_id(cm, "rdma_connect"), "");
  cm.came(id, RDMA_CM_EVENT_REJECTED, 8, "", &call);
  cm.done(id, "rdma_connect");
  EXPECT_TRUE(cm.take_refusals(nullptr).empty());
}

}  // namespace
