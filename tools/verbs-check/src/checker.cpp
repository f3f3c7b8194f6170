#include "checker.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace verbs_check {

namespace {

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void say(const std::string& text) {
  // Not by stdio: the program may have closed or redirected its stream, or be in the middle of it.
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

std::atomic<Checker*> instance{nullptr};

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Checker& Checker::get() {
  // Never destroyed: verbs may be called until the very end.
  static auto* const checker = [] {
    auto* const made = new Checker;
    instance.store(made, std::memory_order_release);
    return made;
  }();
  return *checker;
}

Checker* Checker::get_if_made() { return instance.load(std::memory_order_acquire); }

Checker::Checker()
    : exit_code_{std::atoi(setting("VERBS_CHECK_EXIT_CODE"))}, is_strict_{*setting("VERBS_CHECK_STRICT") != '\0'} {
  if (const std::int64_t patience = std::atoll(setting("VERBS_CHECK_PATIENCE")); patience > 0) {
    patience_ns_ = patience * 1'000'000;  // the command gives milliseconds
  }
  if (const std::string wrong = completion_injector_.parse(setting("VERBS_CHECK_FAIL_COMPLETION")); !wrong.empty()) {
    say("verbs-check: --fail-completion: " + wrong + "\n");
    _exit(2);
  }
  if (const std::string wrong = injector_.parse(setting("VERBS_CHECK_FAIL")); !wrong.empty()) {
    say("verbs-check: --fail: " + wrong + "\n");
    _exit(2);
  }
  if (const std::string path = setting("VERBS_CHECK_TRACE"); !path.empty()) {
    if (const int code = trace_.open(path); code != 0) {
      say("verbs-check: cannot write the trace " + path + ": " + strerrordesc_np(code) + "\n");
      _exit(2);
    }
  }
}

void Checker::report(const Call& call, std::string id, std::string what, std::string objects, std::string why,
                     std::string mend) {
  Finding finding{.id = std::move(id),
                  .what = std::move(what),
                  .where = call.where == nullptr ? std::string{} : resolve(call.where),
                  .objects = std::move(objects),
                  .why = std::move(why),
                  .mend = std::move(mend)};
  if (trace_.is_open()) {
    Line line = this->line();
    trace_.write(line.add("event", "finding")
                     .add("id", finding.id)
                     .add("what", finding.what)
                     .add("objects", finding.objects)
                     .add("where", finding.where));
  }
  const std::string text = to_text(finding);
  if (findings_.add(std::move(finding))) {
    say(text);
  }
}

void Checker::report(const Call& call, const void* object, const Fault& fault) {
  std::vector<const Object*> objects;
  const auto add = [&](const void* address) {
    if (const Object* const living = model.living(address);
        living != nullptr && std::ranges::find(objects, living) == objects.end()) {
      objects.push_back(living);
    }
  };
  add(object);
  std::ranges::for_each(fault.objects, add);
  report({call.verb, fault.where == nullptr ? call.where : fault.where}, fault.id, fault.what,
         describe(objects, resolve), fault.why, fault.mend);
}

void Checker::report(const Call& call, const void* object, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    report(call, object, fault);
  }
}

void Checker::note(const std::string& text) {
  if (notes_.insert(text).second) {
    say("verbs-check: note: " + text + "\n");
  }
}

int Checker::injected(const Call& call) {
  if (injector_.is_idle()) {
    return 0;
  }
  const std::lock_guard lock{mutex};
  return injector_.next(call.verb);
}

Line Checker::line() {
  // Also once more in a child that was forked.
  if (started_ != getpid()) {
    started_ = getpid();
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    Line start = line();
    trace_.write(start.add("event", "start")
                     .add("program", program_invocation_short_name)
                     .add("host", host.data())
                     .add("realtime_ns", now_ns(CLOCK_REALTIME)));
  }
  Line line;
  line.add("time_ns", now_ns(CLOCK_MONOTONIC)).add("pid", getpid()).add("thread", syscall(SYS_gettid));
  return line;
}

Line Checker::line(const Call& call, const void* object, std::int64_t result) {
  Line line = this->line();
  line.add("verb", call.verb).add("object", name(object)).add("result", result).add("where", place(call.where));
  return line;
}

std::string_view Checker::name(const void* object) {
  if (const Object* const living = model.living(object); living != nullptr) {
    return living->name;
  }
  const Object* const gone = model.tombstone(object);
  return gone == nullptr ? std::string_view{} : gone->name;
}

const std::string& Checker::place(const void* address) {
  const auto [found, is_new] = places_.try_emplace(address);
  if (is_new) {
    found->second = resolve(address);
  }
  return found->second;
}

int Checker::finish() {
  const std::lock_guard lock{mutex};
  for (const Object* const object : model.alive()) {
    if (object->destroy == nullptr) {
      continue;
    }
    report({"exit", object->made}, "leak", object->name + " was never destroyed", describe(*object, resolve),
           "the kernel takes it back when the process ends, but a program that goes on loses it, and what it uses "
           "cannot be "
           "destroyed either",
           std::string{"call "} + object->destroy + " on every way out, or give it an owner");
  }
  for (const auto& [finding, times] : findings_.repeated()) {
    say("verbs-check: [" + finding->id + "] came " + std::to_string(times) + " times at " + finding->where + "\n");
  }
  if (findings_.count() == 0) {
    return 0;
  }
  say("verbs-check: " + std::to_string(findings_.count()) + " finding(s)\n");
  return exit_code_;
}

}  // namespace verbs_check

// Before main: settings that make no sense end the program before it has done anything.
__attribute__((constructor)) static void verbs_check_at_start() { verbs_check::Checker::get(); }

// After the program's own destructors: what lives now, nobody will destroy.
__attribute__((destructor)) static void verbs_check_at_exit() {
  if (const int status = verbs_check::Checker::get().finish(); status != 0) {
    std::fflush(nullptr);
    _exit(status);
  }
}
