// The verbs that only ask. They change nothing: they are traced, can be made to fail, and must not be given what is
// gone.
#include "hooks_query.hpp"

#include "hook.hpp"
#include "names.hpp"
#include "real.hpp"
#include "transition.hpp"

#include <arpa/inet.h>
#include <sys/types.h>

#include <map>

// The header has it as a macro over a function pointer of the context.
#undef ibv_query_port

#define HERE(verb) \
  { verb, verbs_check::caller(__builtin_return_address(0)) }

using namespace verbs_check;

namespace {

// How a verb says that it failed, by its man page.
enum class Failing { errno_value, negative_errno, minus_one_and_errno };

template <class Result>
Result failure(Failing how, int code) {
  switch (how) {
    case Failing::errno_value:
      return code;
    case Failing::negative_errno:
      return -code;
    case Failing::minus_one_and_errno:
      break;
  }
  errno = code;
  return -1;
}

// The errno value of what the verb returned; 0 for a success.
template <class Result>
int code_of(Failing how, Result result) {
  switch (how) {
    case Failing::errno_value:
      return static_cast<int>(result);
    case Failing::negative_errno:
      return result < 0 ? static_cast<int>(-result) : 0;
    case Failing::minus_one_and_errno:
      break;
  }
  return result < 0 ? errno : 0;
}

// Makes the call, unless it shall fail or the object is gone. `arguments` is given a line and the result.
template <class Real, class Arguments>
auto ask(const Call& call, const void* object, Failing how, Real real, Arguments arguments) -> decltype(real()) {
  using Result = decltype(real());
  const Depth depth;
  if (Depth::is_nested()) {
    return real();
  }
  if (is_gone(call, object)) {
    return failure<Result>(how, EINVAL);
  }
  Checker& checker = Checker::get();
  const int injected = checker.injected(call);
  const Result result = injected == 0 ? real() : failure<Result>(how, injected);
  const int left_in_errno = errno;
  checker.record(call, object, code_of(how, result), [&](Line& line) { arguments(line, result); });
  errno = left_in_errno;
  return result;
}

// What an open context had before.
struct OriginalQueries {
  decltype(verbs_context::query_port) query_port;
  decltype(verbs_context::query_device_ex) query_device_ex;
  decltype(verbs_context::query_rt_values) query_rt_values;
};
std::map<const ibv_context*, OriginalQueries> original_queries;  // under the checker's mutex

OriginalQueries original_queries_of(const ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  return original_queries.at(context);
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t size) {
  return ask(
      HERE("ibv_query_port"), context, Failing::errno_value,
      [&] { return original_queries_of(context).query_port(context, port, attr, size); },
      [&](Line& line, int) { line.add("port_num", port); });
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size) {
  return ask(
      HERE("ibv_query_device_ex"), context, Failing::errno_value,
      [&] { return original_queries_of(context).query_device_ex(context, input, attr, size); }, [](Line&, int) {});
}

int query_rt_values(ibv_context* context, ibv_values_ex* values) {
  return ask(
      HERE("ibv_query_rt_values_ex"), context, Failing::errno_value,
      [&] { return original_queries_of(context).query_rt_values(context, values); },
      [&](Line& line, int) { line.add("comp_mask", values->comp_mask); });
}

}  // namespace

namespace verbs_check {

void watch_queries(ibv_context* context) {
  verbs_context* const extended = verbs_get_ctx(context);
  if (extended == nullptr) {
    return;
  }
  const std::lock_guard lock{Checker::get().mutex};
  original_queries[context] = {extended->query_port, extended->query_device_ex, extended->query_rt_values};
  // Only what is there: the header looks whether it is.
  if (extended->query_port != nullptr) {
    extended->query_port = query_port;
  }
  if (extended->query_device_ex != nullptr) {
    extended->query_device_ex = query_device_ex;
  }
  if (extended->query_rt_values != nullptr) {
    extended->query_rt_values = query_rt_values;
  }
}

void unwatch_queries(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  const auto found = original_queries.find(context);
  verbs_context* const extended = verbs_get_ctx(context);
  if (found == original_queries.end() || extended == nullptr) {
    return;
  }
  extended->query_port = found->second.query_port;
  extended->query_device_ex = found->second.query_device_ex;
  extended->query_rt_values = found->second.query_rt_values;
  original_queries.erase(found);
}

}  // namespace verbs_check

extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  return ask(
      HERE("ibv_query_device"), context, Failing::errno_value,
      [&] { return real<int(ibv_context*, ibv_device_attr*)>("ibv_query_device")(context, attr); }, [](Line&, int) {});
}

// What a program calls that was built with a header from before the macro, or on a context without the pointer.
int ibv_query_port(ibv_context* context, uint8_t port, _compat_ibv_port_attr* attr) {
  return ask(
      HERE("ibv_query_port"), context, Failing::errno_value,
      [&] { return real<int(ibv_context*, uint8_t, _compat_ibv_port_attr*)>("ibv_query_port")(context, port, attr); },
      [&](Line& line, int) { line.add("port_num", port); });
}

int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  return ask(
      HERE("ibv_query_gid"), context, Failing::minus_one_and_errno,
      [&] { return real<int(ibv_context*, uint8_t, int, ibv_gid*)>("ibv_query_gid")(context, port, index, gid); },
      [&](Line& line, int) { line.add("port_num", port).add("index", index); });
}

int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* entry, uint32_t flags,
                      size_t size) {
  return ask(
      HERE("ibv_query_gid_ex"), context, Failing::errno_value,
      [&] {
        return real<int(ibv_context*, uint32_t, uint32_t, ibv_gid_entry*, uint32_t, size_t)>("_ibv_query_gid_ex")(
            context, port, index, entry, flags, size);
      },
      [&](Line& line, int) { line.add("port_num", port).add("gid_index", index); });
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t room, uint32_t flags, size_t size) {
  return ask(
      HERE("ibv_query_gid_table"), context, Failing::negative_errno,
      [&] {
        return real<ssize_t(ibv_context*, ibv_gid_entry*, size_t, uint32_t, size_t)>("_ibv_query_gid_table")(
            context, entries, room, flags, size);
      },
      [&](Line& line, ssize_t found) {
        line.add("max_entries", static_cast<std::int64_t>(room)).add("returned", found);
      });
}

int ibv_query_pkey(ibv_context* context, uint8_t port, int index, __be16* pkey) {
  return ask(
      HERE("ibv_query_pkey"), context, Failing::minus_one_and_errno,
      [&] { return real<int(ibv_context*, uint8_t, int, __be16*)>("ibv_query_pkey")(context, port, index, pkey); },
      [&](Line& line, int) { line.add("port_num", port).add("index", index); });
}

int ibv_get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey) {
  return ask(
      HERE("ibv_get_pkey_index"), context, Failing::minus_one_and_errno,
      [&] { return real<int(ibv_context*, uint8_t, __be16)>("ibv_get_pkey_index")(context, port, pkey); },
      [&](Line& line, int index) { line.add("port_num", port).add("pkey", ntohs(pkey)).add("returned", index); });
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) {
  return ask(
      HERE("ibv_query_qp"), qp, Failing::errno_value,
      [&] { return real<int(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*)>("ibv_query_qp")(qp, attr, mask, init); },
      [&](Line& line, int result) {
        line.add("attr_mask", mask_names(mask));
        if (result == 0 && (mask & IBV_QP_STATE) != 0) {
          line.add("qp_state", state_name(attr->qp_state));
        }
      });
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  return ask(
      HERE("ibv_query_srq"), srq, Failing::errno_value,
      [&] { return real<int(ibv_srq*, ibv_srq_attr*)>("ibv_query_srq")(srq, attr); }, [](Line&, int) {});
}

}  // extern "C"
