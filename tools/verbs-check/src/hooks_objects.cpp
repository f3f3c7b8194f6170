// The verbs that make and destroy objects.
#include "hook.hpp"
#include "hooks_cm.hpp"
#include "hooks_data.hpp"
#include "hooks_events.hpp"
#include "hooks_extended.hpp"
#include "hooks_query.hpp"
#include "names.hpp"
#include "real.hpp"
#include "refusals.hpp"

#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

// The header has these as macros over the functions that programs really call.
#undef ibv_reg_mr
#undef ibv_query_port

#define HERE(verb) verbs_check::call_at(verb, __builtin_return_address(0))

using namespace verbs_check;

namespace verbs_check {

const char* Within::destroy_verb(Kind kind) {
  if (depth() == 0) {
    return nullptr;  // sockets over RDMA, or the library's own housekeeping
  }
  return kind == Kind::qp ? "rdma_destroy_qp" : kind == Kind::srq ? "rdma_destroy_srq" : nullptr;
}

bool is_gone(const Call& call, const void* address) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  if (address == nullptr || checker.model.living(address) != nullptr) {
    return false;
  }
  const Object* const gone = checker.model.tombstone(address);
  if (gone == nullptr) {
    return false;  // made by a call that the checker does not know
  }
  const bool again = gone->destroy != nullptr && std::string_view{call.verb} == gone->destroy;
  checker.report(
      call, again ? "destroyed-twice" : "used-after-destroy",
      std::string{call.verb} + " on " + gone->name + ", which is destroyed already", describe(*gone, resolve),
      "its memory is free and may belong to something else by now; the library would crash here or, worse, not",
      again ? "give each object one owner; set the pointer to null where it is destroyed"
            : "destroy it after its last use");
  return true;
}

namespace {

std::uint64_t memlock_limit() {
  // Who may lock whatever he likes has no limit: root has this right, but not in each container.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> own{};
  const bool may_lock_all =
      syscall(SYS_capget, &header, own.data()) == 0 && (own.front().effective & (1U << CAP_IPC_LOCK)) != 0;
  rlimit limit{};
  return may_lock_all || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
                                                                                                   : limit.rlim_cur;
}

Kernel look_at_kernel() {
  Kernel kernel;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{"/sys/class/infiniband", none}) {
    kernel.devices.push_back(entry.path().filename());
  }
  const std::filesystem::directory_iterator files{"/dev/infiniband", none};
  kernel.has_files = std::any_of(begin(files), end(files), [](const auto& entry) {
    return entry.path().filename().string().starts_with("uverbs");
  });
  kernel.has_rxe_module = std::filesystem::exists("/sys/module/rdma_rxe", none);
  return kernel;
}

// How many lists and open contexts keep a device. Under the mutex.
std::map<const void*, int> holders;

void hold(const ibv_device* device, int more) {
  const std::lock_guard lock{Checker::get().mutex};
  holders[device] += more;
}

// Does something to what the checker knows of queues and memory.
template <class Work>
void with_data(Work work) {
  Checker& checker = Checker::get();
  const std::lock_guard lock{checker.mutex};
  work(checker.data);
}

template <class Real>
ibv_mr* register_memory(const Call& call, ibv_pd* pd, const void* memory, std::uint64_t begin, std::size_t length,
                        unsigned access, Real verb) {
  ibv_mr* const mr = create<ibv_mr>(
      call, Kind::mr, {pd}, verb,
      [&](Line& line, const ibv_mr*) {
        line.add("addr", static_cast<std::int64_t>(begin))
            .add("length", static_cast<std::int64_t>(length))
            .add("access", access_names(access));
      },
      [&](int code) -> std::vector<Fault> {
        return {mr_refused(code, {.length = length, .access = access, .memlock = memlock_limit()},
                           attributes_of(pd->context))};
      });
  if (mr != nullptr && !Depth::is_inside()) {
    if (Checker::get().is_strict()) {
      mr->lkey = virtual_lkey(mr->lkey);
    }
    with_data([&](DataPath& data) {
      data.add_region(
          {.mr = mr,
           .pd = base_pd(pd),
           .begin = begin,
           .length = mr->length,
           .access = access,
           .lkey = mr->lkey,
           .rkey = mr->rkey,
           .has_memory = begin == reinterpret_cast<std::uintptr_t>(memory) && (access & IBV_ACCESS_ON_DEMAND) == 0});
    });
  }
  return mr;
}

// What a QP would use that is of another context than its PD: "send_cq"; empty when nothing is.
std::string stranger_of(const ibv_pd& pd, const ibv_qp_init_attr& attr) {
  const auto is_stranger = [&](const auto* object) { return object != nullptr && object->context != pd.context; };
  return is_stranger(attr.send_cq)   ? "send_cq"
         : is_stranger(attr.recv_cq) ? "recv_cq"
         : is_stranger(attr.srq)     ? "srq"
                                     : "";
}

// Only while it lives may its context be read.
template <class T>
void before_destroy_of(const Call& call, T* object) {
  bool lives = false;
  {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    lives = checker.model.living(object) != nullptr;
  }
  if (lives) {
    before_destroy(call, object, object->context);
  }
}

}  // namespace

}  // namespace verbs_check

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  const Call call = HERE("ibv_get_device_list");
  ibv_device** const list = create<ibv_device*>(call, Kind::device_list, {},
                                                [&] { return real<ibv_device**(int*)>("ibv_get_device_list")(count); });
  if (list != nullptr && *list == nullptr && !Depth::is_inside()) {
    const Fault fault = no_device(look_at_kernel());
    const std::lock_guard lock{Checker::get().mutex};
    Checker::get().report(call, nullptr, fault);
  }
  for (ibv_device** device = list; list != nullptr && *device != nullptr; ++device) {
    hold(*device, 1);
  }
  return list;
}

void ibv_free_device_list(ibv_device** list) {
  const Call call = HERE("ibv_free_device_list");
  const bool is_list = list != nullptr && !is_gone(call, list);
  for (ibv_device** device = list; is_list && *device != nullptr; ++device) {
    hold(*device, -1);
  }
  destroy(call, list, [&] {
    real<void(ibv_device**)>("ibv_free_device_list")(list);
    return 0;
  });
}

ibv_context* ibv_open_device(ibv_device* device) {
  const Call call = HERE("ibv_open_device");
  if (!Depth::is_inside()) {
    const std::lock_guard lock{Checker::get().mutex};
    if (const auto known = holders.find(device); known != holders.end() && known->second == 0) {
      Checker::get().report(call, nullptr,
                            Fault{"device-after-list", "ibv_open_device with a device whose list was freed before",
                                  "a device that is not open goes with its list: this version of libibverbs still "
                                  "remembers it, another one "
                                  "reads memory that is free",
                                  "open the device first, and free the list then"});
    }
  }
  ibv_context* const context = create<ibv_context>(
      call, Kind::context, {}, [&] { return real<ibv_context*(ibv_device*)>("ibv_open_device")(device); },
      [&](Line& line, const ibv_context*) { line.add("device", ibv_get_device_name(device)); },
      [&](int code) -> std::vector<Fault> { return {open_refused(code, ibv_get_device_name(device))}; });
  if (context != nullptr) {
    hold(device, 1);
    watch_data(context);
    watch_queries(context);
    watch_extended(context);
  }
  return context;
}

int ibv_close_device(ibv_context* context) {
  const Call call = HERE("ibv_close_device");
  Checker& checker = Checker::get();
  const auto is_open = [&] {
    const std::lock_guard lock{checker.mutex};
    return checker.model.living(context) != nullptr;
  };
  if (is_open()) {
    before_close(call, context);
  }
  if (!Depth::is_inside() && !call.is_inner) {
    const std::lock_guard lock{checker.mutex};
    const auto users = checker.model.users(context);
    if (const Object* const object = checker.model.living(context); object != nullptr && !users.empty()) {
      checker.report(
          call, "closed-with-children", object->name + " is closed while objects of it live", describe(users, resolve),
          "ibv_close_device answers 0, but every pointer to them dangles: the next verb on one of them crashes",
          "destroy them first, in the reverse order of their creation");
    }
  }
  const int code = destroy(call, context, [&] {
    if (!call.is_inner) {
      // The kernel takes them away with the file: they are gone, and no leak.
      const std::lock_guard lock{checker.mutex};
      checker.model.remove_users(context, call.where);
    }
    unwatch_data(context);
    unwatch_queries(context);
    unwatch_extended(context);
    const ibv_device* const device = context->device;
    const int failed = real<int(ibv_context*)>("ibv_close_device")(context) == 0 ? 0 : errno;
    if (failed == 0) {
      hold(device, -1);
    } else {
      watch_data(context);
      watch_queries(context);
      watch_extended(context);
    }
    return failed;
  });
  return code == 0 ? 0 : -1;  // other than its fellows, with the reason in errno
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const Call call = HERE("ibv_alloc_pd");
  if (is_unbound(call, context)) {
    errno = EINVAL;
    return nullptr;
  }
  return create<ibv_pd>(call, Kind::pd, {context},
                        [&] { return real<ibv_pd*(ibv_context*)>("ibv_alloc_pd")(context); });
}

int ibv_dealloc_pd(ibv_pd* pd) {
  const int result = destroy(HERE("ibv_dealloc_pd"), pd, [&] { return real<int(ibv_pd*)>("ibv_dealloc_pd")(pd); });
  if (result == 0) {
    forget_parent_domain(pd);
  }
  return result;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return register_memory(
      HERE("ibv_reg_mr"), pd, address, reinterpret_cast<std::uintptr_t>(address), length, static_cast<unsigned>(access),
      [&] { return real<ibv_mr*(ibv_pd*, void*, size_t, int)>("ibv_reg_mr")(pd, address, length, access); });
}

// What the macro ibv_reg_mr calls when the access flags are not known at compile time.
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  return register_memory(HERE("ibv_reg_mr"), pd, address, iova, length, access, [&] {
    return real<ibv_mr*(ibv_pd*, void*, size_t, uint64_t, unsigned)>("ibv_reg_mr_iova2")(pd, address, length, iova,
                                                                                         access);
  });
}

int ibv_dereg_mr(ibv_mr* mr) {
  const Call call = HERE("ibv_dereg_mr");
  if (!Depth::is_inside()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    if (const auto fault = checker.data.fault_of_dereg(mr)) {
      checker.report(call, mr, *fault);
    }
  }
  return destroy(call, mr, [&] {
    Region region;
    with_data([&](DataPath& data) { region = data.take_region(mr); });
    const int result = real<int(ibv_mr*)>("ibv_dereg_mr")(mr);
    if (result != 0 && region.mr != nullptr) {
      with_data([&](DataPath& data) { data.add_region(region); });
    }
    return result;
  });
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  const Call call = HERE("ibv_create_comp_channel");
  if (is_unbound(call, context)) {
    errno = EINVAL;
    return nullptr;
  }
  return create<ibv_comp_channel>(call, Kind::channel, {context}, [&] {
    return real<ibv_comp_channel*(ibv_context*)>("ibv_create_comp_channel")(context);
  });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return destroy(HERE("ibv_destroy_comp_channel"), channel,
                 [&] { return real<int(ibv_comp_channel*)>("ibv_destroy_comp_channel")(channel); });
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel, int vector) {
  const Call call = HERE("ibv_create_cq");
  if (is_unbound(call, context)) {
    errno = EINVAL;
    return nullptr;
  }
  ibv_cq* const cq = create<ibv_cq>(
      call, Kind::cq, {context, channel},
      [&] {
        return real<ibv_cq*(ibv_context*, int, void*, ibv_comp_channel*, int)>("ibv_create_cq")(
            context, entries, cq_context, channel, vector);
      },
      [&](Line& line, const ibv_cq* made) {
        line.add("cqe", entries).add("comp_vector", vector);
        if (made != nullptr) {
          line.add("granted", made->cqe);
        }
      },
      [&](int code) -> std::vector<Fault> {
        return {cq_refused(code, entries, vector, attributes_of(context), context->num_comp_vectors)};
      });
  if (cq != nullptr) {
    with_data([&](DataPath& data) { data.add_cq(cq, static_cast<std::uint32_t>(entries)); });
  }
  return cq;
}

int ibv_destroy_cq(ibv_cq* cq) {
  const Call call = HERE("ibv_destroy_cq");
  before_destroy_of(call, cq);
  const int result = destroy(call, cq, [&] {
    Checker& checker = Checker::get();
    Events::Queue events;
    {
      const std::lock_guard lock{checker.mutex};
      events = checker.events.take(cq);
    }
    const int answer = real<int(ibv_cq*)>("ibv_destroy_cq")(cq);
    if (answer != 0) {
      const std::lock_guard lock{checker.mutex};
      checker.events.put(cq, events);
    }
    return answer;
  });
  if (result == 0) {
    with_data([&](DataPath& data) { data.take_cq(cq); });
  }
  return result;
}

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  const ibv_srq_attr asked = attr->attr;  // the verb writes what it grants over it
  ibv_srq* const srq = create<ibv_srq>(
      HERE("ibv_create_srq"), Kind::srq, {pd},
      [&] { return real<ibv_srq*(ibv_pd*, ibv_srq_init_attr*)>("ibv_create_srq")(pd, attr); },
      [&](Line& line, const ibv_srq*) { line.add("max_wr", asked.max_wr).add("max_sge", asked.max_sge); },
      [&](int code) -> std::vector<Fault> { return {srq_refused(code, asked, attributes_of(pd->context))}; });
  if (srq != nullptr) {
    with_data([&](DataPath& data) {
      data.add_srq(srq, {.pd = base_pd(pd), .depth = asked.max_wr, .max_sge = asked.max_sge});
    });
  }
  return srq;
}

int ibv_destroy_srq(ibv_srq* srq) {
  const Call call = HERE("ibv_destroy_srq");
  before_destroy_of(call, srq);
  const int result = destroy(call, srq, [&] { return real<int(ibv_srq*)>("ibv_destroy_srq")(srq); });
  if (result == 0) {
    with_data([&](DataPath& data) { data.take_srq(srq); });
  }
  return result;
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return create<ibv_ah>(
      HERE("ibv_create_ah"), Kind::ah, {pd},
      [&] { return real<ibv_ah*(ibv_pd*, ibv_ah_attr*)>("ibv_create_ah")(pd, attr); },
      [&](Line& line, const ibv_ah*) {
        line.add("is_global", attr->is_global).add("sgid_index", attr->grh.sgid_index).add("port_num", attr->port_num);
      },
      [&](int code) -> std::vector<Fault> {
        ibv_port_attr port{};
        ___ibv_query_port(pd->context, attr->port_num, &port);
        return {ah_refused(code, *attr, port.link_layer)};
      });
}

int ibv_destroy_ah(ibv_ah* ah) {
  return destroy(HERE("ibv_destroy_ah"), ah, [&] { return real<int(ibv_ah*)>("ibv_destroy_ah")(ah); });
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  const Call call = HERE("ibv_create_qp");
  const ibv_qp_cap asked = attr->cap;  // the verb writes what it grants over it
  Checker& checker = Checker::get();
  ibv_qp* const qp = create<ibv_qp>(
      call, Kind::qp, {pd, attr->send_cq, attr->recv_cq, attr->srq},
      [&] { return real<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)>("ibv_create_qp")(pd, attr); },
      [&](Line& line, const ibv_qp* made) {
        line.add("qp_type", type_name(attr->qp_type))
            .add("send_cq", checker.name(attr->send_cq))
            .add("recv_cq", checker.name(attr->recv_cq))
            .add("srq", checker.name(attr->srq))
            .add("max_send_wr", asked.max_send_wr)
            .add("max_recv_wr", asked.max_recv_wr)
            .add("max_send_sge", asked.max_send_sge)
            .add("max_recv_sge", asked.max_recv_sge)
            .add("max_inline_data", asked.max_inline_data)
            .add("sq_sig_all", attr->sq_sig_all);
        if (made != nullptr) {
          line.add("qp_num", made->qp_num);
          line.open("granted", '{')
              .add("max_send_wr", attr->cap.max_send_wr)
              .add("max_recv_wr", attr->cap.max_recv_wr)
              .add("max_send_sge", attr->cap.max_send_sge)
              .add("max_recv_sge", attr->cap.max_recv_sge)
              .add("max_inline_data", attr->cap.max_inline_data)
              .close();
        }
      },
      [&](int code) -> std::vector<Fault> {
        const std::string stranger = stranger_of(*pd, *attr);
        if (call.is_inner && !stranger.empty()) {
          return {};  // it was said of the call of the program: see is_wrong_qp() in hooks_cm.cpp
        }
        return {qp_refused(code, attr->qp_type, asked, attributes_of(pd->context), stranger)};
      });
  if (qp != nullptr) {
    with_data([&](DataPath& data) {
      data.add_qp(qp, {.number = qp->qp_num,
                       .type = attr->qp_type,
                       .context = pd->context,
                       .pd = base_pd(pd),
                       .send_cq = attr->send_cq,
                       .recv_cq = attr->recv_cq,
                       .srq = attr->srq,
                       .asked = asked,
                       .all_signalled = attr->sq_sig_all != 0});
    });
  }
  return qp;
}

int ibv_destroy_qp(ibv_qp* qp) {
  const Call call = HERE("ibv_destroy_qp");
  before_destroy_of(call, qp);
  return destroy(call, qp, [&] {
    Queues queues;
    with_data([&](DataPath& data) { queues = data.take_qp(qp); });
    const int result = real<int(ibv_qp*)>("ibv_destroy_qp")(qp);
    if (result != 0 && queues.pd != nullptr) {
      with_data([&](DataPath& data) { data.add_qp(qp, queues); });
    }
    return result;
  });
}

}  // extern "C"
