// What the hooks have in common: a call that makes an object, one that destroys it, one that uses it.
#pragma once

#include "checker.hpp"

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace verbs_check {

// Inside a verb the library calls others of its own: those are not the program's. A verb that blocks may be left by the
// longjmp of a signal handler, and then no destructor runs: an outermost one that does not lie further out on the stack
// than the caller is such a remainder.
class Depth {
public:
  Depth() {
    State& state = Depth::state();
    if (!is_inside()) {
      state = {.outermost = this};
    }
    ++state.count;
  }
  ~Depth() {
    if (--state().count == 0) {
      state() = {};
    }
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

  [[nodiscard]] static bool is_nested() { return state().count > 1; }  // with this one counted
  [[nodiscard]] static bool is_inside() {                              // before there is this one
    return std::less<>{}(__builtin_frame_address(0), static_cast<const void*>(state().outermost));
  }

private:
  struct State {
    const Depth* outermost = nullptr;
    int count = 0;
  };
  static State& state() {
    static thread_local State value __attribute__((tls_model("initial-exec")));
    return value;
  }
};

// The call that returns to `direct`.
inline Call call_at(const char* verb, const void* direct) {
  const void* const where = caller(direct);
  return {verb, where, where != direct};
}

// What the device has; all zeros where it does not say.
inline ibv_device_attr attributes_of(ibv_context* context) {
  const Depth depth;
  ibv_device_attr attr{};
  return ibv_query_device(context, &attr) == 0 ? attr : ibv_device_attr{};
}

// A call of the program into librdmacm, which calls verbs of its own. What it makes there the program gives back by
// other verbs, or the library keeps it.
class Within {
public:
  Within() { ++depth(); }
  ~Within() { --depth(); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

  // The verb by which the program gives back what librdmacm has made just now; null when it does not.
  static const char* destroy_verb(Kind kind);

private:
  static int& depth() {
    static thread_local int value = 0;
    return value;
  }
};

// True, with a finding, when the object was destroyed before: the call must not reach the library, which would crash.
bool is_gone(const Call& call, const void* address);

// What adds nothing to the trace.
struct NoArguments {
  void operator()(Line& /*line*/, const void* /*made*/) const {}
};

// What explains no refusal.
struct NoRefusal {
  std::vector<Fault> operator()(int /*code*/) const { return {}; }
};

// Makes the call, unless it shall fail, and enters what it made. errno is as the verb left it. `arguments` adds those
// of the call to the trace, see Checker::record(); it is also given what was made, or null. `refusal` is given the
// errno value of a verb that has failed by itself, and says why.
template <class T, class Real, class Arguments = NoArguments, class Refusal = NoRefusal>
T* create(const Call& call, Kind kind, std::set<const void*> used, Real real, Arguments arguments = {},
          Refusal refusal = {}) {
  const Depth depth;
  if (Depth::is_nested()) {
    return real();
  }
  Checker& checker = Checker::get();
  for (const void* const needed : used) {
    if (is_gone(call, needed)) {
      errno = EINVAL;
      return nullptr;
    }
  }
  used.erase(nullptr);
  T* made = nullptr;
  int code = checker.injected(call);
  if (code == 0) {
    made = real();
    code = errno;
    if (made == nullptr) {
      const std::vector<Fault> faults = refusal(code);
      const std::lock_guard lock{checker.mutex};
      checker.report(call, nullptr, faults);
    }
  }
  if (made != nullptr) {
    const std::lock_guard lock{checker.mutex};
    checker.events.forget(made);
    Object& object = checker.model.add(made, kind, call.where, used);
    if (call.is_inner) {
      object.destroy = Within::destroy_verb(kind);
    }
  }
  checker.record(call, made, made == nullptr ? code : 0, [&](Line& line) {
    arguments(line, made);
    line.close().open("uses", '[');
    for (const void* const needed : used) {
      line.add("", checker.name(needed));
    }
  });
  errno = code;
  return made;
}

// Makes the call, unless it shall fail or the object is gone already. On EBUSY it names who still uses the object.
template <class Real>
int destroy(const Call& call, const void* address, Real real) {
  const Depth depth;
  if (Depth::is_nested()) {
    return real();
  }
  if (is_gone(call, address)) {
    errno = EINVAL;
    return EINVAL;
  }
  Checker& checker = Checker::get();
  if (const int code = checker.injected(call); code != 0) {
    checker.record(call, address, code);
    errno = code;
    return code;
  }
  // Taken out before: once the verb has freed it, another thread may be given the same address.
  Object taken;
  bool known = false;
  {
    const std::lock_guard lock{checker.mutex};
    if (const Object* const object = checker.model.living(address); object != nullptr) {
      taken = *object;
      known = true;
      checker.model.remove(address, call.where);
    }
  }
  const int result = real();
  const int left_in_errno = errno;
  if (result != 0 && known) {
    const std::lock_guard lock{checker.mutex};
    checker.model.restore(address, taken);
    if (const auto users = checker.model.users(address); result == EBUSY && !users.empty()) {
      checker.report(call, "busy", taken.name + " cannot be destroyed: it is in use", describe(users, resolve),
                     "the verb answers EBUSY and does not say who; the object stays alive, and usable",
                     "destroy first what uses it");
    }
  }
  checker.record(call, address, result);
  errno = left_in_errno;
  return result;
}

}  // namespace verbs_check
