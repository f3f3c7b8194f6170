// ibv_modify_qp: what is wrong with the transition is said before the verb answers EINVAL, or does not.
#include "hook.hpp"
#include "names.hpp"
#include "real.hpp"
#include "refusals.hpp"
#include "transition.hpp"

#include <infiniband/verbs.h>

#include <algorithm>

#undef ibv_query_port

using namespace verbs_check;

namespace {

// The state, the port and the path MTU limits, asked of the library itself.
Transition look_at(ibv_qp* qp, const ibv_qp_attr* attr, int mask) {
  Transition transition{.type = qp->qp_type, .attr = attr, .mask = mask};
  ibv_qp_attr now{};
  ibv_qp_init_attr init{};
  if (ibv_query_qp(qp, &now, IBV_QP_STATE | IBV_QP_PORT, &init) != 0) {
    return transition;
  }
  transition.from = now.qp_state;
  if ((mask & (IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)) != 0) {
    ibv_device_attr device{};
    if (ibv_query_device(qp->context, &device) == 0) {
      transition.max_rd_atomic = static_cast<unsigned>(device.max_qp_init_rd_atom);
      transition.max_dest_rd_atomic = static_cast<unsigned>(device.max_qp_rd_atom);
    }
  }
  const std::uint8_t port = (mask & IBV_QP_PORT) != 0 ? attr->port_num : now.port_num;
  ibv_port_attr port_attr{};
  if (port == 0 || ___ibv_query_port(qp->context, port, &port_attr) != 0) {
    return transition;
  }
  transition.link_layer = port_attr.link_layer;
  transition.active_mtu = port_attr.active_mtu;
  transition.port_state = port_attr.state;
  transition.max_message = port_attr.max_msg_sz;
  if ((mask & IBV_QP_AV) != 0 && attr->ah_attr.is_global != 0) {
    ibv_gid_entry entry{};
    transition.source_gid_is_empty =
        ibv_query_gid_ex(qp->context, port, attr->ah_attr.grh.sgid_index, &entry, 0) == ENODATA;
    transition.source_gid = entry.gid;
    transition.to_own_address = std::ranges::equal(entry.gid.raw, attr->ah_attr.grh.dgid.raw);
  } else if ((mask & IBV_QP_AV) != 0) {
    transition.to_own_address = attr->ah_attr.dlid == port_attr.lid;
  }
  return transition;
}

// Values that Soft-RoCE takes as they are, and hardware does not.
bool would_be_refused(const std::vector<Fault>& faults) {
  return std::ranges::any_of(
      faults, [](const Fault& fault) { return fault.id == "qp-mtu-above-active" || fault.id == "qp-value-range"; });
}

// What the mask names, in the terms of ibv_modify_qp(3).
void arguments_of(const ibv_qp_attr& attr, int mask, Line& line) {
  struct Number {
    int bit;
    const char* name;
    std::int64_t value;
  };
  line.add("attr_mask", mask_names(mask));
  if ((mask & IBV_QP_STATE) != 0) {
    line.add("qp_state", state_name(attr.qp_state));
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    line.add("path_mtu", std::int64_t{128} << (attr.path_mtu & 7));
  }
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
    line.add("qp_access_flags", access_names(attr.qp_access_flags));
  }
  for (const Number& number :
       {Number{IBV_QP_PORT, "port_num", attr.port_num}, Number{IBV_QP_PKEY_INDEX, "pkey_index", attr.pkey_index},
        Number{IBV_QP_QKEY, "qkey", attr.qkey}, Number{IBV_QP_DEST_QPN, "dest_qp_num", attr.dest_qp_num},
        Number{IBV_QP_RQ_PSN, "rq_psn", attr.rq_psn}, Number{IBV_QP_SQ_PSN, "sq_psn", attr.sq_psn},
        Number{IBV_QP_AV, "sgid_index", attr.ah_attr.grh.sgid_index},
        Number{IBV_QP_AV, "is_global", attr.ah_attr.is_global}, Number{IBV_QP_TIMEOUT, "timeout", attr.timeout},
        Number{IBV_QP_RETRY_CNT, "retry_cnt", attr.retry_cnt}, Number{IBV_QP_RNR_RETRY, "rnr_retry", attr.rnr_retry},
        Number{IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", attr.min_rnr_timer},
        Number{IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr.max_rd_atomic},
        Number{IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr.max_dest_rd_atomic}}) {
    if ((mask & number.bit) != 0) {
      line.add(number.name, number.value);
    }
  }
}

}  // namespace

extern "C" int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  const Call call = call_at("ibv_modify_qp", __builtin_return_address(0));
  const Depth depth;
  const auto next = real<int(ibv_qp*, ibv_qp_attr*, int)>("ibv_modify_qp");
  if (Depth::is_nested()) {
    return next(qp, attr, mask);
  }
  if (is_gone(call, qp)) {
    return EINVAL;
  }
  Checker& checker = Checker::get();
  const Transition transition = look_at(qp, attr, mask);
  // What librdmacm asks for comes from the kernel.
  const std::vector<Fault> faults = call.is_inner ? std::vector<Fault>{} : faults_of(transition);
  if (!faults.empty()) {
    const std::lock_guard lock{checker.mutex};
    checker.report(call, qp, faults);
  }
  if ((mask & IBV_QP_STATE) != 0 && attr->qp_state == IBV_QPS_ERR) {
    const std::lock_guard lock{checker.mutex};
    if (Queues* const queues = checker.data.find(qp); queues != nullptr) {
      queues->failed_on_purpose = true;  // before the verb: another thread may poll what it flushes at once
    }
  }
  int result = checker.injected(call);
  if (result == 0) {
    result = checker.is_strict() && would_be_refused(faults) ? EINVAL : next(qp, attr, mask);
    const std::lock_guard lock{checker.mutex};
    if (result == 0) {
      checker.data.set_attributes(qp, *attr, mask);
      if (Queues* const queues = checker.data.find(qp); queues != nullptr && transition.max_message != 0) {
        queues->max_message = transition.max_message;
        if ((mask & IBV_QP_AV) != 0) {
          queues->attributes.to_own_address = transition.to_own_address;
        }
        if (queues->type == IBV_QPT_UD) {
          queues->attributes.path_mtu = transition.active_mtu;  // there is no other for it
        }
      }
    } else if (faults.empty()) {
      checker.report(call, qp, modify_refused(result, step_text(transition)));
    }
  }
  checker.record(call, qp, result, [&](Line& line) { arguments_of(*attr, mask, line); });
  return result;
}
