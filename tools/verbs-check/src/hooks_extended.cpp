// What the extended interfaces make is entered as what the simple ones make. Requests that are posted, and completions
// that are polled, by way of them are not seen: from the first one on nothing is judged that would need them.
#include "hooks_extended.hpp"

#include "hook.hpp"
#include "hooks_data.hpp"
#include "hooks_query.hpp"
#include "names.hpp"
#include "real.hpp"

#include <limits>
#include <map>

#undef ibv_reg_mr_iova

#define CALL(verb) verbs_check::call_at(verb, __builtin_return_address(0))

namespace verbs_check {

namespace {

// Under the checker's mutex.
std::map<const ibv_context*, verbs_context> original_tables;
std::map<const void*, int (*)(ibv_cq_ex*, ibv_poll_cq_attr*)> starts_of_polling;
std::map<const void*, void (*)(ibv_qp_ex*)> starts_of_posting;
std::map<const void*, const void*> base_pds;

const verbs_context& original_table(const ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  return original_tables.at(context);
}

// The whole of memory: of regions whose range is not known, or has no bounds.
constexpr std::uint64_t everywhere = std::numeric_limits<std::uint64_t>::max();

// Enters a memory region that a verb has made.
ibv_mr* enter(ibv_mr* mr, const ibv_pd* pd, std::uint64_t begin, std::uint64_t length, unsigned access) {
  if (mr != nullptr && !Depth::is_inside()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    if (checker.is_strict()) {
      mr->lkey = virtual_lkey(mr->lkey);
    }
    checker.data.add_region({.mr = mr,
                             .pd = base_pd(pd),
                             .begin = begin,
                             .length = length,
                             .access = access,
                             .lkey = mr->lkey,
                             .rkey = mr->rkey});
  }
  return mr;
}

// The first call puts the original back, so that the others cost nothing.
int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    cq->start_poll = starts_of_polling.at(cq);
    checker.data.unwatch_cq(cq);
    checker.note(std::string{checker.name(cq)} + " is polled through the extended interface, which is not watched");
  }
  return cq->start_poll(cq, attr);
}

void wr_start(ibv_qp_ex* qp) {
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    qp->wr_start = starts_of_posting.at(qp);
    if (Queues* const queues = checker.data.find(&qp->qp_base); queues != nullptr) {
      queues->is_watched = false;
    }
    checker.note(std::string{checker.name(&qp->qp_base)} +
                 " is posted to through the extended interface, which is not watched");
  }
  qp->wr_start(qp);
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  ibv_cq_ex* const cq = create<ibv_cq_ex>(
      CALL("ibv_create_cq_ex"), Kind::cq, {context, attr->channel},
      [&] { return original_table(context).create_cq_ex(context, attr); },
      [&](Line& line, const ibv_cq_ex*) { line.add("cqe", attr->cqe).add("comp_vector", attr->comp_vector); });
  if (cq != nullptr && !Depth::is_inside()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.data.add_cq(cq, attr->cqe);
    if (cq->start_poll != nullptr) {
      starts_of_polling[cq] = cq->start_poll;
      cq->start_poll = start_poll;
    }
  }
  return cq;
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  const ibv_qp_cap asked = attr->cap;  // the verb writes what it grants over it
  ibv_pd* const pd = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? attr->pd : nullptr;
  ibv_qp* const qp = create<ibv_qp>(
      CALL("ibv_create_qp_ex"), Kind::qp, {pd == nullptr ? nullptr : pd, attr->send_cq, attr->recv_cq, attr->srq},
      [&] { return original_table(context).create_qp_ex(context, attr); },
      [&](Line& line, const ibv_qp* made) {
        line.add("qp_type", type_name(attr->qp_type));
        if (made != nullptr) {
          line.add("qp_num", made->qp_num);
        }
      });
  if (qp != nullptr && pd != nullptr && !Depth::is_inside()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.data.add_qp(qp, {.number = qp->qp_num,
                             .type = attr->qp_type,
                             .context = context,
                             .pd = base_pd(pd),
                             .send_cq = attr->send_cq,
                             .recv_cq = attr->recv_cq,
                             .srq = attr->srq,
                             .asked = asked,
                             .all_signalled = attr->sq_sig_all != 0});
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
      ibv_qp_ex* const extended = ibv_qp_to_qp_ex(qp);
      starts_of_posting[extended] = extended->wr_start;
      extended->wr_start = wr_start;
    }
  }
  return qp;
}

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr) {
  const ibv_srq_attr asked = attr->attr;
  const bool has_cq = (attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) != 0;
  ibv_pd* const pd = (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? attr->pd : nullptr;
  ibv_srq* const srq = create<ibv_srq>(CALL("ibv_create_srq_ex"), Kind::srq, {pd, has_cq ? attr->cq : nullptr},
                                       [&] { return original_table(context).create_srq_ex(context, attr); });
  if (srq != nullptr && pd != nullptr && !Depth::is_inside()) {
    Checker& checker = Checker::get();
    const std::lock_guard lock{checker.mutex};
    checker.data.add_srq(srq, {.pd = base_pd(pd), .depth = asked.max_wr, .max_sge = asked.max_sge});
  }
  return srq;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  ibv_pd* const pd = create<ibv_pd>(CALL("ibv_alloc_parent_domain"), Kind::pd, {context, attr->pd},
                                    [&] { return original_table(context).alloc_parent_domain(context, attr); });
  if (pd != nullptr) {
    const std::lock_guard lock{Checker::get().mutex};
    base_pds[pd] = base_pd(attr->pd);
  }
  return pd;
}

ibv_mr* alloc_null_mr(ibv_pd* pd) {
  ibv_mr* const mr = create<ibv_mr>(CALL("ibv_alloc_null_mr"), Kind::mr, {pd},
                                    [&] { return original_table(pd->context).alloc_null_mr(pd); });
  return enter(mr, pd, 0, everywhere, IBV_ACCESS_LOCAL_WRITE);
}

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
  return create<ibv_dm>(CALL("ibv_alloc_dm"), Kind::dm, {context},
                        [&] { return original_table(context).alloc_dm(context, attr); });
}

int free_dm(ibv_dm* dm) {
  return destroy(CALL("ibv_free_dm"), dm, [&] { return original_table(dm->context).free_dm(dm); });
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, uint64_t offset, size_t length, unsigned access) {
  ibv_mr* const mr = create<ibv_mr>(CALL("ibv_reg_dm_mr"), Kind::mr, {pd, dm}, [&] {
    return original_table(pd->context).reg_dm_mr(pd, dm, offset, length, access);
  });
  return enter(mr, pd, 0, length, access);  // its addresses begin at 0
}

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
  return create<ibv_xrcd>(CALL("ibv_open_xrcd"), Kind::xrcd, {context},
                          [&] { return original_table(context).open_xrcd(context, attr); });
}

int close_xrcd(ibv_xrcd* xrcd) {
  return destroy(CALL("ibv_close_xrcd"), xrcd, [&] { return original_table(xrcd->context).close_xrcd(xrcd); });
}

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attr) {
  return create<ibv_flow>(CALL("ibv_create_flow"), Kind::flow, {qp},
                          [&] { return original_table(qp->context).ibv_create_flow(qp, attr); });
}

int destroy_flow(ibv_flow* flow) {
  return destroy(CALL("ibv_destroy_flow"), flow, [&] { return original_table(flow->context).ibv_destroy_flow(flow); });
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  return create<ibv_mw>(CALL("ibv_alloc_mw"), Kind::mw, {pd},
                        [&] { return original_table(pd->context).context.ops.alloc_mw(pd, type); });
}

int dealloc_mw(ibv_mw* mw) {
  return destroy(CALL("ibv_dealloc_mw"), mw, [&] { return original_table(mw->context).context.ops.dealloc_mw(mw); });
}

// Only what is there: the header looks whether it is.
template <class Function>
void replace(Function*& place, Function* ours) {
  if (place != nullptr) {
    place = ours;
  }
}

}  // namespace

const void* base_pd(const void* pd) {
  const auto found = base_pds.find(pd);
  return found == base_pds.end() ? pd : found->second;
}

void forget_parent_domain(const void* pd) {
  const std::lock_guard lock{Checker::get().mutex};
  base_pds.erase(pd);
}

void watch_extended(ibv_context* context) {
  verbs_context* const table = verbs_get_ctx(context);
  if (table == nullptr) {
    return;
  }
  const std::lock_guard lock{Checker::get().mutex};
  original_tables[context] = *table;
  replace(table->create_cq_ex, create_cq_ex);
  replace(table->create_qp_ex, create_qp_ex);
  replace(table->create_srq_ex, create_srq_ex);
  replace(table->alloc_parent_domain, alloc_parent_domain);
  replace(table->alloc_null_mr, alloc_null_mr);
  replace(table->alloc_dm, alloc_dm);
  replace(table->free_dm, free_dm);
  replace(table->reg_dm_mr, reg_dm_mr);
  replace(table->open_xrcd, open_xrcd);
  replace(table->close_xrcd, close_xrcd);
  replace(table->ibv_create_flow, create_flow);
  replace(table->ibv_destroy_flow, destroy_flow);
  replace(context->ops.alloc_mw, alloc_mw);
  replace(context->ops.dealloc_mw, dealloc_mw);
}

void unwatch_extended(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  const auto found = original_tables.find(context);
  verbs_context* const table = verbs_get_ctx(context);
  if (found == original_tables.end() || table == nullptr) {
    return;
  }
  const verbs_context& before = found->second;
  table->create_cq_ex = before.create_cq_ex;
  table->create_qp_ex = before.create_qp_ex;
  table->create_srq_ex = before.create_srq_ex;
  table->alloc_parent_domain = before.alloc_parent_domain;
  table->alloc_null_mr = before.alloc_null_mr;
  table->alloc_dm = before.alloc_dm;
  table->free_dm = before.free_dm;
  table->reg_dm_mr = before.reg_dm_mr;
  table->open_xrcd = before.open_xrcd;
  table->close_xrcd = before.close_xrcd;
  table->ibv_create_flow = before.ibv_create_flow;
  table->ibv_destroy_flow = before.ibv_destroy_flow;
  context->ops.alloc_mw = before.context.ops.alloc_mw;
  context->ops.dealloc_mw = before.context.ops.dealloc_mw;
  original_tables.erase(found);
}

}  // namespace verbs_check

using namespace verbs_check;

extern "C" {

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  ibv_mr* const mr = create<ibv_mr>(CALL("ibv_reg_mr_iova"), Kind::mr, {pd}, [&] {
    return real<ibv_mr*(ibv_pd*, void*, size_t, uint64_t, int)>("ibv_reg_mr_iova")(pd, address, length, iova, access);
  });
  return enter(mr, pd, iova, length, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova, int descriptor, int access) {
  ibv_mr* const mr = create<ibv_mr>(CALL("ibv_reg_dmabuf_mr"), Kind::mr, {pd}, [&] {
    return real<decltype(ibv_reg_dmabuf_mr)>("ibv_reg_dmabuf_mr")(pd, offset, length, iova, descriptor, access);
  });
  return enter(mr, pd, iova, length, static_cast<unsigned>(access));
}

int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, size_t length, int access) {
  const auto next = real<decltype(ibv_rereg_mr)>("ibv_rereg_mr");
  const Call call = CALL("ibv_rereg_mr");
  const Depth depth;
  if (Depth::is_nested()) {
    return next(mr, flags, pd, address, length, access);
  }
  if (is_gone(call, mr)) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  Checker& checker = Checker::get();
  int result = 0;
  if (const int code = checker.injected(call); code != 0) {
    result = IBV_REREG_MR_ERR_CMD;  // the kernel has refused: the region stays as it was
    errno = code;
  } else {
    result = next(mr, flags, pd, address, length, access);
    const std::lock_guard lock{checker.mutex};
    Region region = checker.data.take_region(mr);
    if (result == 0 && region.mr != nullptr) {
      if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
        region.begin = reinterpret_cast<std::uintptr_t>(address);
        region.length = length;
        region.given_back.clear();
      }
      if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
        region.pd = base_pd(pd);
        if (Object* const object = checker.model.living(mr); object != nullptr) {
          object->used = {pd};
        }
      }
      if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) {
        region.access = static_cast<unsigned>(access);
      }
      if (checker.is_strict()) {
        mr->lkey = virtual_lkey(mr->lkey);
      }
      region.lkey = mr->lkey;
      region.rkey = mr->rkey;
    }
    if (region.mr != nullptr) {
      checker.data.add_region(region);
    }
  }
  const int left_in_errno = errno;
  checker.record(call, mr, result);
  errno = left_in_errno;
  return result;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* completion, ibv_grh* grh, uint8_t port) {
  return create<ibv_ah>(CALL("ibv_create_ah_from_wc"), Kind::ah, {pd}, [&] {
    return real<decltype(ibv_create_ah_from_wc)>("ibv_create_ah_from_wc")(pd, completion, grh, port);
  });
}

ibv_context* ibv_import_device(int descriptor) {
  ibv_context* const context = create<ibv_context>(CALL("ibv_import_device"), Kind::context, {}, [&] {
    return real<decltype(ibv_import_device)>("ibv_import_device")(descriptor);
  });
  if (context != nullptr) {
    watch_data(context);
    watch_queries(context);
    watch_extended(context);
  }
  return context;
}

ibv_pd* ibv_import_pd(ibv_context* context, uint32_t handle) {
  ibv_pd* const pd = create<ibv_pd>(CALL("ibv_import_pd"), Kind::imported_pd, {context},
                                    [&] { return real<decltype(ibv_import_pd)>("ibv_import_pd")(context, handle); });
  return pd;
}

void ibv_unimport_pd(ibv_pd* pd) {
  destroy(CALL("ibv_unimport_pd"), pd, [&] {
    real<decltype(ibv_unimport_pd)>("ibv_unimport_pd")(pd);
    return 0;
  });
}

ibv_mr* ibv_import_mr(ibv_pd* pd, uint32_t handle) {
  ibv_mr* const mr = create<ibv_mr>(CALL("ibv_import_mr"), Kind::imported_mr, {pd},
                                    [&] { return real<decltype(ibv_import_mr)>("ibv_import_mr")(pd, handle); });
  return enter(mr, pd, 0, everywhere, IBV_ACCESS_LOCAL_WRITE);  // another process knows its range
}

void ibv_unimport_mr(ibv_mr* mr) {
  destroy(CALL("ibv_unimport_mr"), mr, [&] {
    {
      Checker& checker = Checker::get();
      const std::lock_guard lock{checker.mutex};
      checker.data.take_region(mr);
    }
    real<decltype(ibv_unimport_mr)>("ibv_unimport_mr")(mr);
    return 0;
  });
}

}  // extern "C"
