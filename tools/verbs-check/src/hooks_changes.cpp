// The verbs that change an object that is there; ibv_modify_qp has a file of its own. The multicast groups of a QP are
// entered as objects that need it: the kernel does not destroy a QP that is attached.
#include "hook.hpp"
#include "real.hpp"
#include "refusals.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#define HERE(verb) verbs_check::call_at(verb, __builtin_return_address(0))

using namespace verbs_check;

namespace {

// Makes the call, unless it shall fail or the object is gone already. `done` is called under the mutex after a success;
// `refusal` is given the errno value of a verb that has failed by itself, and says why.
template <class Real, class Done, class Refusal, class Arguments>
int change(const Call& call, const void* object, Real verb, Done done, Refusal refusal, Arguments arguments) {
  const Depth depth;
  if (Depth::is_nested()) {
    return verb();
  }
  if (is_gone(call, object)) {
    errno = EINVAL;
    return EINVAL;
  }
  Checker& checker = Checker::get();
  int result = checker.injected(call);
  if (result == 0) {
    result = verb();
    if (result == 0) {
      const std::lock_guard lock{checker.mutex};
      done();
    } else {
      const Fault fault = refusal(result);
      const std::lock_guard lock{checker.mutex};
      checker.report(call, object, fault);
    }
  }
  checker.record(call, object, result, arguments);
  return result;
}

// A group that a QP is attached to. What it points to stands for it in the model, and stays: attached again it is the
// same one.
using Group = std::tuple<const void*, std::array<std::uint8_t, 16>, std::uint16_t>;
std::map<Group, std::unique_ptr<char>> groups;  // under the checker's mutex

Group group_of(const ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  std::array<std::uint8_t, 16> raw{};
  std::ranges::copy(gid->raw, raw.begin());
  return {qp, raw, lid};
}

// The attachment that lives, or null. Under the mutex.
const void* living(const Group& group) {
  const auto found = groups.find(group);
  return found != groups.end() && Checker::get().model.living(found->second.get()) != nullptr ? found->second.get()
                                                                                              : nullptr;
}

bool is_living(const Group& group) {
  const std::lock_guard lock{Checker::get().mutex};
  return living(group) != nullptr;
}

void add_group(Line& line, const ibv_gid* gid, std::uint16_t lid) {
  std::string text;
  for (const std::uint8_t byte : gid->raw) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  line.add("gid", text).add("lid", lid);
}

}  // namespace

extern "C" {

int ibv_resize_cq(ibv_cq* cq, int entries) {
  Checker& checker = Checker::get();
  return change(
      HERE("ibv_resize_cq"), cq, [&] { return real<int(ibv_cq*, int)>("ibv_resize_cq")(cq, entries); },
      [&] {
        if (Completions* const completions = checker.data.find_cq(cq)) {
          completions->entries = static_cast<std::uint32_t>(entries);
        }
      },
      [&](int code) { return resize_refused(code, entries, attributes_of(cq->context)); },
      [&](Line& line) { line.add("cqe", entries); });
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
  Checker& checker = Checker::get();
  return change(
      HERE("ibv_modify_srq"), srq,
      [&] { return real<int(ibv_srq*, ibv_srq_attr*, int)>("ibv_modify_srq")(srq, attr, mask); },
      [&] {
        if (SharedQueue* const queue = checker.data.find_srq(srq); queue != nullptr && (mask & IBV_SRQ_MAX_WR) != 0) {
          queue->depth = attr->max_wr;
        }
      },
      [&](int code) {
        const ibv_device_attr device = attributes_of(srq->context);
        const std::lock_guard lock{checker.mutex};
        const SharedQueue* const queue = checker.data.find_srq(srq);
        return srq_change_refused(code, *attr, mask, queue == nullptr ? UINT32_MAX : queue->depth,
                                  queue == nullptr ? 0 : queue->receives.size(), device);
      },
      [&](Line& line) {
        line.add("srq_attr_mask", mask);
        if ((mask & IBV_SRQ_MAX_WR) != 0) {
          line.add("max_wr", attr->max_wr);
        }
        if ((mask & IBV_SRQ_LIMIT) != 0) {
          line.add("srq_limit", attr->srq_limit);
        }
      });
}

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  Checker& checker = Checker::get();
  const Call call = HERE("ibv_attach_mcast");
  return change(
      call, qp, [&] { return real<int(ibv_qp*, const ibv_gid*, uint16_t)>("ibv_attach_mcast")(qp, gid, lid); },
      [&] {
        const Group group = group_of(qp, gid, lid);
        if (living(group) != nullptr) {
          return;  // the kernel counts it once
        }
        std::unique_ptr<char>& place = groups[group];
        if (place == nullptr) {
          place = std::make_unique<char>();
        }
        Object& object = checker.model.add(place.get(), Kind::attachment, call.where, {qp});
        if (call.is_inner) {
          object.destroy = nullptr;  // librdmacm detaches
        }
      },
      [&](int code) { return mcast_refused(code, call.verb, qp->qp_type, *gid, false); },
      [&](Line& line) { add_group(line, gid, lid); });
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  Checker& checker = Checker::get();
  const Call call = HERE("ibv_detach_mcast");
  return change(
      call, qp, [&] { return real<int(ibv_qp*, const ibv_gid*, uint16_t)>("ibv_detach_mcast")(qp, gid, lid); },
      [&] {
        if (const void* const attachment = living(group_of(qp, gid, lid)); attachment != nullptr) {
          checker.model.remove(attachment, call.where);
        }
      },
      [&](int code) { return mcast_refused(code, call.verb, qp->qp_type, *gid, is_living(group_of(qp, gid, lid))); },
      [&](Line& line) { add_group(line, gid, lid); });
}

}  // extern "C"
