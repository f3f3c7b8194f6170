// Calls every verb that the checker can make fail, and prints what each answered: its result, and what it left in
// errno. What makes an object is called twice: the second call may fail without taking away what the others need. With
// the argument "gone" the verbs that only ask are called once more, on what is destroyed already.
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

const char* left_in_errno() {
  const char* const name = errno == 0 ? "-" : strerrorname_np(errno);
  errno = 0;
  return name;
}

void say(const char* verb, std::int64_t result) {
  std::printf("%s %lld %s\n", verb, static_cast<long long>(result), left_in_errno());
}

template <class T>
T* say_made(const char* verb, T* object) {
  std::printf("%s %s %s\n", verb, object == nullptr ? "NULL" : "made", left_in_errno());
  return object;
}

// The second one is destroyed at once.
template <auto Destroy, class Create>
auto twice(const char* verb, Create create) {
  errno = 0;
  auto* const first = create();
  if (first == nullptr) {
    std::perror(verb);
    std::_Exit(3);
  }
  errno = 0;
  if (auto* const second = say_made(verb, create()); second != nullptr) {
    Destroy(second);
  }
  errno = 0;
  return first;
}

// Those of the verbs that only ask whose function the program calls itself.
void ask(ibv_context* context, ibv_qp* qp, ibv_srq* srq) {
  ibv_device_attr device{};
  ibv_gid gid{};
  ibv_gid_entry entry{};
  std::array<ibv_gid_entry, 64> table{};
  __be16 pkey = 0;
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ibv_srq_attr srq_attr{};
  errno = 0;
  say("ibv_query_device", ibv_query_device(context, &device));
  say("ibv_query_gid", ibv_query_gid(context, 1, 0, &gid));
  say("ibv_query_gid_ex", ibv_query_gid_ex(context, 1, 0, &entry, 0));
  say("ibv_query_gid_table", ibv_query_gid_table(context, table.data(), table.size(), 0));
  say("ibv_query_pkey", ibv_query_pkey(context, 1, 0, &pkey));
  say("ibv_get_pkey_index", ibv_get_pkey_index(context, 1, 0xffff));
  say("ibv_query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
  say("ibv_query_srq", ibv_query_srq(srq, &srq_attr));
}

}  // namespace

int main(int argc, char** argv) {
  ibv_device** const list =
      twice<ibv_free_device_list>("ibv_get_device_list", [] { return ibv_get_device_list(nullptr); });
  ibv_context* const context = twice<ibv_close_device>("ibv_open_device", [&] { return ibv_open_device(list[0]); });
  ibv_free_device_list(list);

  // Through pointers in the context.
  ibv_port_attr port{};
  ibv_device_attr_ex device{};
  say("ibv_query_port", ibv_query_port(context, 1, &port));
  say("ibv_query_device_ex", ibv_query_device_ex(context, nullptr, &device));

  std::array<char, 64> memory{};
  ibv_pd* const pd = twice<ibv_dealloc_pd>("ibv_alloc_pd", [&] { return ibv_alloc_pd(context); });
  ibv_mr* const mr = twice<ibv_dereg_mr>(
      "ibv_reg_mr", [&] { return ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE); });
  ibv_comp_channel* const channel =
      twice<ibv_destroy_comp_channel>("ibv_create_comp_channel", [&] { return ibv_create_comp_channel(context); });
  ibv_cq* const cq =
      twice<ibv_destroy_cq>("ibv_create_cq", [&] { return ibv_create_cq(context, 4, nullptr, channel, 0); });
  ibv_srq* const srq = twice<ibv_destroy_srq>("ibv_create_srq", [&] {
    ibv_srq_init_attr attr{.attr = {.max_wr = 1, .max_sge = 1}};
    return ibv_create_srq(pd, &attr);
  });
  ibv_qp* const qp = twice<ibv_destroy_qp>("ibv_create_qp", [&] {
    ibv_qp_init_attr attr{.send_cq = cq,
                          .recv_cq = cq,
                          .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    return ibv_create_qp(pd, &attr);
  });
  ibv_qp_init_attr datagrams{.send_cq = cq,
                             .recv_cq = cq,
                             .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                             .qp_type = IBV_QPT_UD};
  ibv_qp* const ud = ibv_create_qp(pd, &datagrams);
  ibv_ah* const ah = twice<ibv_destroy_ah>("ibv_create_ah", [&] {
    ibv_ah_attr attr{.is_global = 1, .port_num = 1};
    attr.grh.hop_limit = 1;
    // A multicast address: nobody has to answer for it.
    attr.grh.dgid.raw[0] = 0xff;
    attr.grh.dgid.raw[1] = 0x02;
    attr.grh.dgid.raw[15] = 1;
    return ibv_create_ah(pd, &attr);
  });

  ask(context, qp, srq);
  ibv_qp_attr attr{.qp_state = IBV_QPS_INIT, .port_num = 1};
  ibv_sge where{reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), mr->lkey};
  ibv_recv_wr receive{.sg_list = &where, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  ibv_wc completion{};
  say("ibv_modify_qp", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  say("ibv_post_recv", ibv_post_recv(qp, &receive, &bad));
  say("ibv_poll_cq", ibv_poll_cq(cq, 1, &completion));
  say("ibv_post_srq_recv", ibv_post_srq_recv(srq, &receive, &bad));
  say("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
  say("ibv_resize_cq", ibv_resize_cq(cq, 8));
  ibv_srq_attr limit{.srq_limit = 1};
  say("ibv_modify_srq", ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[1] = 0x0e;
  group.raw[15] = 0x40;
  say("ibv_attach_mcast", ibv_attach_mcast(ud, &group, 0));
  say("ibv_detach_mcast", ibv_detach_mcast(ud, &group, 0));
  say("ibv_rereg_mr", ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE));

  ibv_destroy_qp(ud);
  say("ibv_destroy_ah", ibv_destroy_ah(ah));
  say("ibv_destroy_qp", ibv_destroy_qp(qp));
  say("ibv_destroy_srq", ibv_destroy_srq(srq));
  say("ibv_destroy_cq", ibv_destroy_cq(cq));
  say("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
  say("ibv_dereg_mr", ibv_dereg_mr(mr));
  say("ibv_dealloc_pd", ibv_dealloc_pd(pd));
  say("ibv_close_device", ibv_close_device(context));
  if (argc > 1 && std::string_view{argv[1]} == "gone") {
    ask(context, qp, srq);
  }
}
