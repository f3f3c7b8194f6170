// Creating objects, querying them, destroying them.
#include "tools/deviations/bench.hpp"

#include "common/units.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <set>

namespace deviations {

namespace {

ibv_qp_init_attr init_attr(ibv_cq* cq, ibv_qp_type type = IBV_QPT_RC) {
  return {.send_cq = cq,
          .recv_cq = cq,
          .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
          .qp_type = type};
}

// Creates a QP, and destroys it when that works.
std::string try_qp(const Bench& bench, ibv_qp_init_attr attr) {
  errno = 0;
  const Qp qp{ibv_create_qp(bench.pd.get(), &attr)};
  return answer_of(qp.get());
}

std::string try_mr(const Bench& bench, void* address, std::size_t length, unsigned access) {
  errno = 0;
  const Mr mr{ibv_reg_mr(bench.pd.get(), address, length, access)};
  return answer_of(mr.get());
}

std::string errno_after_open(const Bench& bench) {
  errno = 0;
  const lab::Owned<ibv_context, ibv_close_device> again{
      lab::check(ibv_open_device(bench.context()->device), "ibv_open_device")};
  return "made, errno " + answer(errno);
}

std::string gid_empty(const Bench& bench) {
  const auto table = lab::gid_table(bench.context(), bench.path.port);
  for (unsigned index = 0; index < static_cast<unsigned>(bench.device.port_attr.gid_tbl_len); ++index) {
    if (std::ranges::none_of(table, [&](const auto& entry) { return entry.gid_index == index; })) {
      ibv_gid gid{};
      const int result = ibv_query_gid(bench.context(), bench.path.port, static_cast<int>(index), &gid);
      return answer(result) + ", GID " + lab::gid_text(gid);
    }
  }
  throw lab::Error("every slot of the GID table is filled");
}

std::string gid_types(const Bench& bench) {
  std::set<std::string> types;
  for (const ibv_gid_entry& entry : lab::gid_table(bench.context(), bench.path.port)) {
    types.insert(lab::gid_type_name(entry.gid_type));
  }
  return joined(std::vector<std::string>{types.begin(), types.end()});
}

std::string atomic_caps(const Bench& bench) {
  switch (bench.limits.atomic_cap) {
    case IBV_ATOMIC_NONE:
      return "IBV_ATOMIC_NONE";
    case IBV_ATOMIC_HCA:
      return "IBV_ATOMIC_HCA";
    case IBV_ATOMIC_GLOB:
      return "IBV_ATOMIC_GLOB";
  }
  return std::to_string(bench.limits.atomic_cap);
}

std::string odp(const Bench& bench) {
  ibv_device_attr_ex attr{};
  lab::check_errno(ibv_query_device_ex(bench.context(), nullptr, &attr), "ibv_query_device_ex");
  return std::string{"general_caps "} +
         ((attr.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0 ? "IBV_ODP_SUPPORT" : "0") + ", ibv_reg_mr " +
         try_mr(bench, bench.memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
}

std::string cq_granted(const Bench& bench) {
  std::vector<std::string> granted;
  for (const int asked : {1, 16, 100}) {
    granted.push_back(std::to_string(bench.make_cq(asked)->cqe));
  }
  return "granted " + joined(granted);
}

std::string cq_refused(const Bench& bench) {
  std::vector<std::string> answers;
  const auto attempt = [&](int entries, int vector) {
    errno = 0;
    const Cq cq{ibv_create_cq(bench.context(), entries, nullptr, nullptr, vector)};
    answers.push_back(answer_of(cq.get()));
  };
  attempt(0, 0);
  attempt(bench.limits.max_cqe + 1, 0);
  attempt(1, bench.context()->num_comp_vectors);
  return joined(answers);
}

std::string cq_resize(const Bench& bench) {
  const Cq cq = bench.make_cq(16);
  const int result = ibv_resize_cq(cq.get(), 100);
  return answer(result) + ", " + std::to_string(cq->cqe) + " entries";
}

std::string cq_timestamps(const Bench& bench) {
  ibv_cq_init_attr_ex attr{.cqe = 16, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
  errno = 0;
  const Cq cq{ibv_cq_ex_to_cq(ibv_create_cq_ex(bench.context(), &attr))};
  return answer_of(cq.get());
}

std::string qp_granted(const Bench& bench) {
  const Cq cq = bench.make_cq(1);
  ibv_qp_init_attr attr = init_attr(cq.get());
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 100;
  const Qp qp{lab::check(ibv_create_qp(bench.pd.get(), &attr), "ibv_create_qp")};
  ibv_qp_attr queried{};
  ibv_qp_init_attr init{};
  lab::check_errno(ibv_query_qp(qp.get(), &queried, IBV_QP_CAP, &init), "ibv_query_qp");
  const auto depths = [](const ibv_qp_cap& cap) {
    return std::to_string(cap.max_send_wr) + " and " + std::to_string(cap.max_recv_wr);
  };
  return "granted " + depths(attr.cap) + ", queried " + depths(queried.cap);
}

std::string qp_refused(const Bench& bench) {
  const Cq cq = bench.make_cq(1);
  std::vector<std::string> answers;
  const auto attempt = [&](auto change) {
    ibv_qp_init_attr attr = init_attr(cq.get());
    change(attr.cap);
    answers.push_back(try_qp(bench, attr));
  };
  attempt([&](ibv_qp_cap& cap) { cap.max_send_wr = static_cast<std::uint32_t>(bench.limits.max_qp_wr) + 1; });
  attempt([&](ibv_qp_cap& cap) { cap.max_send_sge = static_cast<std::uint32_t>(bench.limits.max_sge) + 1; });
  attempt([&](ibv_qp_cap& cap) { cap.max_inline_data = 1U << 20U; });
  return joined(answers);
}

std::string inline_limit(const Bench& bench) {
  const Cq cq = bench.make_cq(1);
  // The limit is in no attribute: halve the distance between what is granted and what is refused.
  std::uint32_t granted = 0;
  std::uint32_t refused = 1U << 20U;
  while (refused - granted > 1) {
    ibv_qp_init_attr attr = init_attr(cq.get());
    attr.cap.max_inline_data = granted + (refused - granted) / 2;
    const std::uint32_t asked = attr.cap.max_inline_data;
    (try_qp(bench, attr) == "made" ? granted : refused) = asked;
  }
  return std::to_string(granted) + " bytes";
}

std::string qp_types(const Bench& bench) {
  const Cq cq = bench.make_cq(1);
  std::vector<std::string> answers;
  for (const auto& [type, name] :
       {std::pair{IBV_QPT_UC, "UC"}, std::pair{IBV_QPT_UD, "UD"}, std::pair{IBV_QPT_RAW_PACKET, "RAW_PACKET"},
        std::pair{IBV_QPT_XRC_SEND, "XRC_SEND"}}) {
    answers.push_back(std::string{name} + " " + try_qp(bench, init_attr(cq.get(), type)));
  }
  return joined(answers);
}

std::string mr_rights(const Bench& bench) { return try_mr(bench, bench.memory.data(), 4096, IBV_ACCESS_REMOTE_WRITE); }

std::string mr_empty(const Bench& bench) { return try_mr(bench, bench.memory.data(), 0, IBV_ACCESS_LOCAL_WRITE); }

// A page that may only be read.
struct ReadOnlyPage {
  ReadOnlyPage() : at{mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {
    if (at == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr): the macro's own cast
      throw lab::VerbError("mmap", errno, {});
    }
  }
  ReadOnlyPage(const ReadOnlyPage&) = delete;
  ReadOnlyPage& operator=(const ReadOnlyPage&) = delete;
  ~ReadOnlyPage() { munmap(at, size); }

  static constexpr std::size_t size = 4096;
  void* at;
};

std::string mr_read_only(const Bench& bench) {
  const ReadOnlyPage page;
  return try_mr(bench, page.at, ReadOnlyPage::size, IBV_ACCESS_LOCAL_WRITE) + " with LOCAL_WRITE, " +
         try_mr(bench, page.at, ReadOnlyPage::size, 0) + " without";
}

std::string mr_keys(const Bench& bench) {
  const Mr local{
      lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  const auto compared = [](const ibv_mr& mr) {
    return std::string{mr.rkey == 0 ? "rkey 0" : mr.rkey == mr.lkey ? "rkey the same as lkey" : "rkey another number"};
  };
  return "without: " + compared(*local) + ", with: " + compared(*bench.mr);
}

std::string mr_rereg(const Bench& bench) {
  const Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")};
  errno = 0;
  const int result = ibv_rereg_mr(mr.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0);
  return result == 0 ? answer(0) : "ibv_rereg_mr_err_code " + std::to_string(result) + ", " + answer(errno);
}

std::string mw_types(const Bench& bench) {
  std::vector<std::string> answers;
  for (const auto& [type, name] : {std::pair{IBV_MW_TYPE_1, "type 1 "}, std::pair{IBV_MW_TYPE_2, "type 2 "}}) {
    errno = 0;
    const lab::Owned<ibv_mw, ibv_dealloc_mw> mw{ibv_alloc_mw(bench.pd.get(), type)};
    answers.push_back(name + answer_of(mw.get()));
  }
  return joined(answers);
}

std::string mw_bound(const Bench& bench) {
  Mr mr{lab::check(ibv_reg_mr(bench.pd.get(), bench.memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND),
                   "ibv_reg_mr")};
  const lab::Owned<ibv_mw, ibv_dealloc_mw> mw{lab::check(ibv_alloc_mw(bench.pd.get(), IBV_MW_TYPE_1), "ibv_alloc_mw")};
  const Pair pair{bench, {}};
  pair.connect();
  ibv_mw_bind bind{
      .wr_id = 3,
      .send_flags = IBV_SEND_SIGNALED,
      .bind_info = {
          .mr = mr.get(), .addr = bench.address(), .length = 4096, .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
  lab::check_errno(ibv_bind_mw(pair.qp.get(), mw.get(), &bind), "ibv_bind_mw");
  const std::string bound = status(completion(pair.cq.get(), 5s));
  const int refused = ibv_dereg_mr(mr.get());
  if (refused == 0) {
    static_cast<void>(mr.release());  // it is gone
  }
  return "bound with " + bound + ", ibv_dereg_mr " + answer(refused);
}

std::string srq_resize(const Bench& bench) {
  ibv_srq_init_attr init{.attr = {.max_wr = 16, .max_sge = 1}};
  const Srq srq{lab::check(ibv_create_srq(bench.pd.get(), &init), "ibv_create_srq")};
  ibv_srq_attr attr{.max_wr = 100};
  const int result = ibv_modify_srq(srq.get(), &attr, IBV_SRQ_MAX_WR);
  lab::check_errno(ibv_query_srq(srq.get(), &attr), "ibv_query_srq");
  return answer(result) + ", holds " + std::to_string(attr.max_wr);
}

std::string busy(const Bench& bench) {
  Pd pd{lab::check(ibv_alloc_pd(bench.context()), "ibv_alloc_pd")};
  Cq cq = bench.make_cq(1);
  ibv_srq_init_attr srq_init{.attr = {.max_wr = 1, .max_sge = 1}};
  Srq srq{lab::check(ibv_create_srq(pd.get(), &srq_init), "ibv_create_srq")};
  ibv_qp_init_attr init = init_attr(cq.get());
  init.srq = srq.get();
  const Qp qp{lab::check(ibv_create_qp(pd.get(), &init), "ibv_create_qp")};
  std::vector<std::string> answers;
  // What goes in spite of its user is not to be destroyed again.
  const auto attempt = [&](const char* name, auto& object, int result) {
    answers.push_back(std::string{name} + " " + answer(result));
    if (result == 0) {
      static_cast<void>(object.release());
    }
  };
  attempt("CQ", cq, ibv_destroy_cq(cq.get()));
  attempt("SRQ", srq, ibv_destroy_srq(srq.get()));
  attempt("PD", pd, ibv_dealloc_pd(pd.get()));
  return joined(answers);
}

std::string qp_multicast(const Bench& bench) {
  const Cq cq = bench.make_cq(1);
  ibv_qp_init_attr init = init_attr(cq.get(), IBV_QPT_UD);
  Qp qp{lab::check(ibv_create_qp(bench.pd.get(), &init), "ibv_create_qp")};
  ibv_gid group{};
  group.raw[0] = 0xff;  // a link-local multicast address: ff12::1
  group.raw[1] = 0x12;
  group.raw[15] = 1;
  lab::check_errno(ibv_attach_mcast(qp.get(), &group, 0), "ibv_attach_mcast");
  const int refused = ibv_destroy_qp(qp.get());
  if (refused == 0) {
    static_cast<void>(qp.release());
  } else {
    lab::check_errno(ibv_detach_mcast(qp.get(), &group, 0), "ibv_detach_mcast");
  }
  return answer(refused);
}

// In a child: what the library keeps for the two objects in this process could never be freed.
std::string close_with_children(const Bench& bench) {
  std::fflush(nullptr);
  const pid_t child = lab::check_minus_one(fork(), "fork");
  if (child == 0) {
    ibv_context* const context = ibv_open_device(bench.context()->device);
    if (context == nullptr || ibv_alloc_pd(context) == nullptr ||
        ibv_create_cq(context, 1, nullptr, nullptr, 0) == nullptr) {
      _exit(255);
    }
    const int result = ibv_close_device(context);
    _exit(result == -1 ? errno : result);
  }
  int status = 0;
  lab::check_minus_one(waitpid(child, &status, 0), "waitpid");
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 255) {
    throw lab::Error("the child could not open the device, or make its objects");
  }
  return answer(WEXITSTATUS(status));
}

constexpr std::array object_rows{
    Row{"errno-after-open", "ibv_open_device works; errno was 0 before", errno_after_open},
    Row{"gid-empty", "ibv_query_gid of an empty slot", gid_empty},
    Row{"gid-types", "types in the GID table", gid_types},
    Row{"atomic-caps", "atomic_cap of ibv_query_device", atomic_caps},
    Row{"odp", "on-demand paging: the capability, and ibv_reg_mr with ON_DEMAND", odp},
    Row{"cq-granted", "ibv_create_cq asks for 1, 16, 100 entries", cq_granted},
    Row{"cq-refused", "ibv_create_cq: 0 entries, max_cqe + 1 entries, comp_vector = num_comp_vectors", cq_refused},
    Row{"cq-resize", "ibv_resize_cq from 16 to 100 entries", cq_resize},
    Row{"cq-timestamps", "ibv_create_cq_ex with completion timestamps", cq_timestamps},
    Row{"qp-granted", "ibv_create_qp asks for 100 sends and 100 receives", qp_granted},
    Row{"qp-refused", "ibv_create_qp: max_qp_wr + 1 sends, max_sge + 1 SGEs, 1 MiB of inline data", qp_refused},
    Row{"inline-limit", "the most inline data that ibv_create_qp grants", inline_limit},
    Row{"qp-types", "ibv_create_qp with other types than RC", qp_types},
    Row{"mr-rights", "ibv_reg_mr with REMOTE_WRITE and not LOCAL_WRITE", mr_rights},
    Row{"mr-empty", "ibv_reg_mr of 0 bytes", mr_empty},
    Row{"mr-read-only", "ibv_reg_mr of a page that may only be read", mr_read_only},
    Row{"mr-keys", "rkey of a region without and with remote rights", mr_keys},
    Row{"mr-rereg", "ibv_rereg_mr changes the access flags", mr_rereg},
    Row{"mw-types", "ibv_alloc_mw", mw_types},
    Row{"mw-bound", "ibv_dereg_mr of a region to which a window is bound", mw_bound},
    Row{"srq-resize", "ibv_modify_srq from 16 to 100 receives", srq_resize},
    Row{"busy", "destroying what a QP uses", busy},
    Row{"qp-multicast", "ibv_destroy_qp of a QP that is attached to a multicast group", qp_multicast},
    Row{"close-with-children", "ibv_close_device with a PD and a CQ alive", close_with_children},
};

}  // namespace

std::span<const Row> objects() { return object_rows; }

}  // namespace deviations
