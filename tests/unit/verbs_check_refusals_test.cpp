// tools/verbs-check refusals: why a verb has refused, from what was asked for and what the device has.
#include "inject.hpp"
#include "refusals.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace {

using namespace verbs_check;

// As Soft-RoCE has it on Linux 6.1.
ibv_device_attr device() {
  return {.max_mr_size = UINT64_MAX,
          .max_qp_wr = 1048576,
          .max_sge = 32,
          .max_cqe = 32767,
          .max_srq_wr = 32768,
          .max_srq_sge = 27};
}

std::string why_qp(int code, ibv_qp_cap asked, ibv_qp_type type = IBV_QPT_RC) {
  return qp_refused(code, type, asked, device()).why;
}

TEST(Refusal, OfAQpNamesTheLimit) {
  EXPECT_EQ(why_qp(EINVAL, {.max_send_wr = 16777216}),
            "asked for max_send_wr 16777216 (max_qp_wr of the device: 1048576)");
  EXPECT_EQ(why_qp(EINVAL, {.max_send_sge = 33, .max_recv_sge = 1000}),
            "asked for max_send_sge 33 (max_sge of the device: 32), max_recv_sge 1000 (max_sge of the device: 32)");
  EXPECT_EQ(why_qp(EOPNOTSUPP, {}, IBV_QPT_RAW_PACKET), "the device does not offer this type");
  EXPECT_EQ(
      why_qp(ENOMEM, {.max_send_wr = 1048576, .max_recv_wr = 1, .max_send_sge = 32}),
      "the device cannot grant this combination: max_send_wr 1048576, max_send_sge 32, max_inline_data 0, max_recv_wr "
      "1");
  EXPECT_EQ(why_qp(EINVAL, {.max_inline_data = 4096}),
            "likely, in this order: max_inline_data 4096 is more than the device has; a field that was never set: zero "
            "the structure before filling it (= {})");
  EXPECT_EQ(why_qp(EINVAL, {}),
            "likely, in this order: a field that was never set: zero the structure before filling it (= {})");
  EXPECT_EQ(qp_refused(EINVAL, IBV_QPT_RC, {}, device(), "recv_cq").why,
            "recv_cq is of another context than the PD: each ibv_open_device is one, also for the same device");
  EXPECT_EQ(qp_refused(EINVAL, IBV_QPT_UD, {}, device()).what, "ibv_create_qp has refused: EINVAL for IBV_QPT_UD");
}

TEST(Refusal, OfACqNamesTheLimit) {
  EXPECT_EQ(cq_refused(EINVAL, 0, 0, device(), 1).why, "a CQ has at least one entry; cqe is 0");
  EXPECT_EQ(cq_refused(EINVAL, 32768, 0, device(), 1).why, "cqe 32768 is above max_cqe of the device: 32767");
  EXPECT_EQ(cq_refused(EINVAL, 1, 1, device(), 1).why, "comp_vector 1 is not below num_comp_vectors of the context: 1");
  EXPECT_EQ(cq_refused(EINVAL, 1, -1, device(), 1).why,
            "comp_vector -1 is not below num_comp_vectors of the context: 1");
  EXPECT_EQ(cq_refused(EIO, 1, 0, device(), 1).why, "the device does not say");
  EXPECT_EQ(cq_refused(ENOMEM, 1, 0, device(), 1).why,
            "the device or the memory that may be locked (RLIMIT_MEMLOCK) is used up");
}

TEST(Refusal, OfASrqNamesTheLimit) {
  EXPECT_EQ(srq_refused(EINVAL, {.max_wr = 40000, .max_sge = 1}, device()).why,
            "asked for max_wr 40000 (max_srq_wr of the device: 32768)");
  EXPECT_EQ(srq_refused(EINVAL, {.max_wr = 0}, device()).why,
            "likely: max_wr is 0, or a field that was never set: zero the structure before filling it (= {})");
}

TEST(Refusal, OfAChangedCqNamesTheLimit) {
  EXPECT_EQ(resize_refused(EINVAL, 32768, device()).what, "ibv_resize_cq has refused: EINVAL for 32768 entries");
  EXPECT_EQ(resize_refused(EINVAL, 32768, device()).why, "max_cqe of the device is 32767");
  EXPECT_EQ(resize_refused(EINVAL, 0, device()).why, "a CQ has at least one entry");
  EXPECT_EQ(resize_refused(EINVAL, 1, device()).why,
            "likely: there are more completions in the CQ than it shall have entries; it stays as it was");
  EXPECT_EQ(resize_refused(EOPNOTSUPP, 8, device()).why, "the device does not offer it");
}

TEST(Refusal, OfAChangedSrqNamesTheLimit) {
  ibv_device_attr able = device();
  able.device_cap_flags = IBV_DEVICE_SRQ_RESIZE;
  const auto why = [&](ibv_srq_attr asked, int mask, const ibv_device_attr& device) {
    return srq_change_refused(EINVAL, asked, mask, 4, 3, device).why;
  };
  EXPECT_EQ(why({.srq_limit = 5}, IBV_SRQ_LIMIT, able), "srq_limit 5 is above max_wr: 4");
  EXPECT_EQ(why({.max_wr = 8, .srq_limit = 9}, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR, able), "srq_limit 9 is above max_wr: 8");
  EXPECT_EQ(why({.max_wr = 40000}, IBV_SRQ_MAX_WR, able), "max_wr 40000 is above max_srq_wr of the device: 32768");
  EXPECT_EQ(why({.max_wr = 2}, IBV_SRQ_MAX_WR, able), "max_wr 2 is less than the receives that are posted: 3");
  EXPECT_EQ(why({.max_wr = 8}, IBV_SRQ_MAX_WR, device()),
            "the device does not change max_wr: its device_cap_flags are without IBV_DEVICE_SRQ_RESIZE");
  EXPECT_EQ(why({.srq_limit = 1}, IBV_SRQ_LIMIT, able),
            "likely: a field that was never set: zero the structure before filling it (= {})");
}

TEST(Refusal, OfAMulticastGroupNamesTheRule) {
  ibv_gid group{};
  group.raw[0] = 0xff;
  const auto why = [&](int code, ibv_qp_type type, bool is_attached, const char* verb = "ibv_attach_mcast") {
    return mcast_refused(code, verb, type, group, is_attached).why;
  };
  EXPECT_EQ(why(EINVAL, IBV_QPT_RC, false), "only a UD QP can receive from a multicast group; this one is IBV_QPT_RC");
  EXPECT_EQ(why(EINVAL, IBV_QPT_UD, false, "ibv_detach_mcast"), "the QP is not attached to this group");
  EXPECT_EQ(why(EOPNOTSUPP, IBV_QPT_UD, false), "the device does not offer multicast");
  EXPECT_EQ(why(ENOMEM, IBV_QPT_UD, false), "the device has no group, or no place in this one, left");
  EXPECT_EQ(why(EINVAL, IBV_QPT_UD, true, "ibv_detach_mcast"),
            "likely: the LID is none of a group (on InfiniBand 0xc000 to 0xfffe)");
  group = {};
  group.raw[0] = 0xfe;
  EXPECT_EQ(why(EINVAL, IBV_QPT_UD, false), "the GID is no address of a group: its first byte is 0xfe, not 0xff");
  group.raw[0] = 0;
  group.raw[10] = group.raw[11] = 0xff;
  group.raw[12] = 0xe0;  // 224.0.0.0
  EXPECT_EQ(why(EINVAL, IBV_QPT_UD, false), "likely: the LID is none of a group (on InfiniBand 0xc000 to 0xfffe)");
  group.raw[12] = 192;
  EXPECT_EQ(why(EINVAL, IBV_QPT_UD, false), "the GID is no address of a group: its first byte is 0x0, not 0xff");
}

std::string why_mr(int code, Registration asked) { return mr_refused(code, asked, device()).why; }

TEST(Refusal, OfAMemoryRegion) {
  EXPECT_EQ(why_mr(EINVAL, {.length = 64, .access = IBV_ACCESS_REMOTE_WRITE}),
            "where the peer may write, the device must be allowed to write locally too");
  EXPECT_EQ(why_mr(EINVAL, {.length = 64, .access = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ}),
            "where the peer may write, the device must be allowed to write locally too");
  EXPECT_EQ(why_mr(ENOMEM, {.length = 1048576, .access = 0, .memlock = 65536}),
            "the process may lock 65536 bytes (RLIMIT_MEMLOCK), all its regions together");
  EXPECT_EQ(why_mr(ENOMEM, {.length = 1048576}),
            "there is not so much memory that can be locked, or the device has no region left (max_mr)");
  EXPECT_EQ(why_mr(EFAULT, {.length = 64, .access = IBV_ACCESS_LOCAL_WRITE}),
            "a part of the range is not memory of this process, or is read-only (a constant, a mapped file)");
  EXPECT_EQ(why_mr(EFAULT, {.length = 64, .access = IBV_ACCESS_REMOTE_READ}),
            "a part of the range is not memory of this process");
  EXPECT_EQ(why_mr(EINVAL, {.length = 64, .access = IBV_ACCESS_LOCAL_WRITE}),
            "likely, in this order: the access flags do not go together; the length is 0 or wraps around; the device "
            "does not offer a flag");
  EXPECT_EQ(mr_refused(EINVAL, {.length = 65, .access = 0}, {.max_mr_size = 64}).why,
            "max_mr_size of the device is 64");
  EXPECT_EQ(mr_refused(ENOMEM, {.length = 5, .access = IBV_ACCESS_LOCAL_WRITE}, device()).what,
            "ibv_reg_mr has refused: ENOMEM for 5 bytes with IBV_ACCESS_LOCAL_WRITE");
}

TEST(Refusal, OfAnAddressHandle) {
  EXPECT_EQ(ah_refused(EINVAL, {}, IBV_LINK_LAYER_ETHERNET).why,
            "is_global is 0: RoCE has no LIDs, and the address of the peer is the GID in grh");
  EXPECT_EQ(ah_refused(ENODATA, {.grh = {.sgid_index = 9}, .is_global = 1}, IBV_LINK_LAYER_ETHERNET).why,
            "the GID table is empty at sgid_index 9");
  EXPECT_EQ(
      ah_refused(EINVAL, {.port_num = 7}, IBV_LINK_LAYER_INFINIBAND).why,
      "likely, in this order: port_num 7 is none of the device; sgid_index or dgid is no address; a field that was "
      "never set: zero the structure before filling it (= {})");
}

TEST(Refusal, NoDevice) {
  EXPECT_EQ(no_device({.devices = {"rxe0"}}).what, "ibv_get_device_list knows no device, though the kernel has rxe0");
  EXPECT_EQ(no_device({.devices = {"rxe0"}}).why,
            "libibverbs finds a device only with the provider library of its driver");
  EXPECT_EQ(no_device({.devices = {"rxe0"}, .has_files = false}).why,
            "a program reaches a device by its file, and there is no /dev/infiniband/uverbsN");
  EXPECT_EQ(no_device({.has_rxe_module = true}).why, "the module rdma_rxe is loaded, but no link was added");
  EXPECT_EQ(no_device({}).why, "the kernel has no RDMA device: no adapter with a driver, and no Soft-RoCE");
}

TEST(Refusal, OtherVerbs) {
  EXPECT_EQ(open_refused(EACCES, "rxe0").what, "ibv_open_device has refused: EACCES for rxe0");
  EXPECT_EQ(open_refused(EACCES, "rxe0").why, "the file /dev/infiniband/uverbsN may not be opened");
  EXPECT_EQ(open_refused(ENOENT, "rxe0").why,
            "the file /dev/infiniband/uverbsN may not be opened, or has gone: libibverbs says ENOENT for both");
  EXPECT_EQ(modify_refused(ETIMEDOUT, "INIT to RTR").what, "ibv_modify_qp has refused: ETIMEDOUT for INIT to RTR");
  EXPECT_EQ(modify_refused(ETIMEDOUT, "INIT to RTR").why,
            "the address of the destination GID could not be resolved: no route, or nobody there");
  EXPECT_EQ(modify_refused(EINVAL, "INIT to RTR").why,
            "no rule of the specification is broken as far as the checker sees. Likely, in this order: the destination "
            "GID is of another family than the one at sgid_index; an attribute is above a limit of the device; a field "
            "that was never set: zero the structure before filling it (= {})");
  EXPECT_EQ(modify_refused(EIO, "INIT to RTR").why, "the device does not say");
  EXPECT_EQ(post_refused(ENOMEM, "ibv_post_send").why, "the queue is full");
  EXPECT_EQ(post_refused(EINVAL, "ibv_post_send").why,
            "the request breaks a limit of the QP, or the QP is in a state that does not take it");
  EXPECT_EQ(post_refused(EINVAL, "ibv_post_recv", true).why, "the QP has a shared receive queue, and none of its own");
}

TEST(VerbsCheckInject, Completions) {
  CompletionInjector injector;
  EXPECT_EQ(injector.next(), IBV_WC_SUCCESS);
  ASSERT_EQ(injector.parse("2=RETRY_EXC_ERR,3=IBV_WC_WR_FLUSH_ERR,5=13"), "");
  EXPECT_EQ(injector.next(), IBV_WC_SUCCESS);
  EXPECT_EQ(injector.next(), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(injector.next(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(injector.next(), IBV_WC_SUCCESS);
  EXPECT_EQ(injector.next(), IBV_WC_RNR_RETRY_EXC_ERR);
  CompletionInjector always;
  ASSERT_EQ(always.parse("every=REM_OP_ERR"), "");
  EXPECT_EQ(always.next(), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(always.next(), IBV_WC_REM_OP_ERR);
}

TEST(VerbsCheckInject, SaysWhatIsWrongWithACompletion) {
  for (const char* const text : {"x=5", "0=5", "5", "=5", "1=5,,2=5"}) {
    EXPECT_NE(CompletionInjector{}.parse(text).find("is not of the form N=STATUS"), std::string::npos) << text;
  }
  for (const char* const text : {"1=", "1=SUCCESS", "1=0", "1=99", "1=-1", "1=EIO"}) {
    EXPECT_NE(CompletionInjector{}.parse(text).find("is no failure of ibv_wc_status"), std::string::npos) << text;
  }
}

}  // namespace
