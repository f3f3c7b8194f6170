#include "checker.hpp"

#include "say.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace verbs_check {

namespace {

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The same for what the program shall not learn: it is gone from the environment then, also from /proc/self/environ,
// which shows the memory in which the strings lay at the start.
std::string take_setting(const char* name) {
  std::string value;
  const std::string start = std::string{name} + '=';
  char** kept = environ;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view{*entry}.starts_with(start)) {
      value = *entry + start.size();
      explicit_bzero(*entry, std::strlen(*entry));
    } else {
      *kept++ = *entry;
    }
  }
  if (kept != nullptr) {
    *kept = nullptr;
  }
  return value;
}

[[noreturn]] void refuse(const std::string& why) {
  say("verbs-check: " + why + "\n");
  _exit(2);
}

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Checker& Checker::make() {
  // Never destroyed: verbs may be called until the very end.
  static auto* const checker = [] {
    auto* const made = new Checker;
    instance_.store(made, std::memory_order_release);
    return made;
  }();
  return *checker;
}

Checker::Checker()
    : exit_code_{std::atoi(setting("VERBS_CHECK_EXIT_CODE"))}, is_strict_{*setting("VERBS_CHECK_STRICT") != '\0'} {
  if (const std::int64_t patience = std::atoll(setting("VERBS_CHECK_PATIENCE")); patience > 0) {
    patience_ns_ = patience * 1'000'000;  // the command gives milliseconds
  }
  // A program that is not trusted does not learn what is going to fail.
  const bool hide = *setting("VERBS_CHECK_TRACE_KEY") != '\0';
  const auto failing = [&](const char* name) { return hide ? take_setting(name) : std::string{setting(name)}; };
  if (const std::string wrong = completion_injector_.parse(failing("VERBS_CHECK_FAIL_COMPLETION")); !wrong.empty()) {
    refuse("--fail-completion: " + wrong);
  }
  if (const std::string wrong = injector_.parse(failing("VERBS_CHECK_FAIL")); !wrong.empty()) {
    refuse("--fail: " + wrong);
  }
  open_trace();
  if (setting("VERBS_CHECK_PLACES") == std::string_view{"raw"}) {
    leave_unresolved();
  }
  if (*setting("VERBS_CHECK_QUIET") != '\0') {
    exit_code_ = 0;
    say_nothing_more();
  }
}

void Checker::open_trace() {
  const std::string descriptor = take_setting("VERBS_CHECK_TRACE_FD");
  std::string key = take_setting("VERBS_CHECK_TRACE_KEY");
  const std::string path = setting("VERBS_CHECK_TRACE");
  if (!descriptor.empty() || !key.empty()) {
    constexpr std::size_t longest = 128;
    int number = 0;
    const auto [end, error] = std::from_chars(descriptor.data(), descriptor.data() + descriptor.size(), number);
    if (!path.empty()) {
      refuse("--trace and --trace-fd exclude each other");
    }
    if (error != std::errc{} || *end != '\0' || number <= STDERR_FILENO) {
      refuse("--trace-fd '" + descriptor + "': not the number of a descriptor above 2");
    }
    if (key.empty() || key.size() > longest || key.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      refuse("--trace-fd wants a key of 1 to 128 hexadecimal digits in VERBS_CHECK_TRACE_KEY");
    }
    if (const int code = trace_.adopt(number, std::move(key)); code != 0) {
      refuse("cannot write the trace to the descriptor " + descriptor + ": " + strerrordesc_np(code));
    }
  } else if (!path.empty()) {
    if (const int code = trace_.open(path); code != 0) {
      refuse("cannot write the trace " + path + ": " + strerrordesc_np(code));
    }
  }
}

void Checker::report(const Call& call, std::string id, std::string what, std::string objects, std::string why,
                     std::string mend) {
  Finding finding{.id = std::move(id),
                  .what = std::move(what),
                  .where = call.where == nullptr ? std::string{} : resolve_call(call.where),
                  .objects = std::move(objects),
                  .why = std::move(why),
                  .mend = std::move(mend)};
  if (trace_.is_open()) {
    Line line = this->line();
    trace_.add(line.add("event", "finding")
                   .add("id", finding.id)
                   .add("what", finding.what)
                   .add("objects", finding.objects)
                   .add("where", finding.where));
    trace_.flush();
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

int Checker::next_injected(const Call& call) {
  const std::lock_guard lock{mutex};
  return injector_.next(call.verb);
}

void Checker::start() {
  process_ = getpid();
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Line start = line();
  trace_.add(start.add("event", "start")
                 .add("program", program_invocation_short_name)
                 .add("host", host.data())
                 .add("realtime_ns", now_ns(CLOCK_REALTIME)));
}

namespace {

// Asking is a system call, so it is done once, and after a fork once more.
std::int64_t thread_of(int process) {
  static thread_local int asked_by __attribute__((tls_model("initial-exec"))) = 0;
  static thread_local std::int64_t thread __attribute__((tls_model("initial-exec"))) = 0;
  if (asked_by != process) {
    asked_by = process;
    thread = syscall(SYS_gettid);
  }
  return thread;
}

}  // namespace

Line Checker::line() {
  if (process_ == 0) {
    start();
  }
  Line line = trace_.line();
  line.add("time_ns", now_ns(CLOCK_MONOTONIC)).add("pid", process_).add("thread", thread_of(process_));
  return line;
}

Line Checker::line(const Call& call, const void* object, std::int64_t result) {
  const Beginning& beginning = this->beginning(call, object);
  Line line = this->line();
  line.add_raw(beginning.until_result).add_raw(result).add_raw(beginning.after_result);
  return line;
}

Batch Checker::batch(Shape shape, const Call& call, const void* object, std::int64_t result, std::int64_t num_entries) {
  if (process_ == 0) {
    start();
  }
  constexpr std::size_t most_names = 4096;
  if (names_of_qps_.size() > most_names) {
    trace_.settle();
    names_of_qps_.clear();
    known_qps_ = {};
  }
  return {.shape = shape,
          .beginning = &beginning(call, object),
          .time_ns = now_ns(CLOCK_MONOTONIC),
          .process = process_,
          .thread = thread_of(process_),
          .result = result,
          .num_entries = num_entries};
}

const Beginning& Checker::beginning(const Call& call, const void* object) {
  const auto mix = reinterpret_cast<std::uintptr_t>(call.where) ^ (reinterpret_cast<std::uintptr_t>(object) >> 4U);
  KnownCall& known = known_calls_.at(mix % known_calls_.size());
  if (known.where != call.where || known.object != object || known.verb != call.verb ||
      known.changes != model.changes()) {
    trace_.settle();
    known = {.where = call.where,
             .object = object,
             .verb = call.verb,
             .changes = model.changes(),
             .beginning = {.until_result = ",\"verb\":" + json_text(call.verb) +
                                           ",\"object\":" + json_text(name(object)) + ",\"result\":",
                           .after_result = ",\"where\":" + place(call.where)}};
  }
  return known.beginning;
}

const std::string* Checker::name_of_qp(std::uint32_t number, const void* cq) {
  KnownQp& known = known_qps_.at((number ^ (reinterpret_cast<std::uintptr_t>(cq) >> 4U)) % known_qps_.size());
  if (known.cq != cq || known.number != number || known.changes != model.changes()) {
    known = {.cq = cq,
             .number = number,
             .changes = model.changes(),
             .name = &*names_of_qps_.emplace(name(data.qp_of(number, cq))).first};
  }
  return known.name;
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
    found->second = json_text(resolve(address));
  }
  return found->second;
}

int Checker::finish() {
  if (Mutex::is_held_here()) {  // exit was called by the handler of a signal that came while the checker was at work
    say("verbs-check: ended by a signal handler in the middle of a call: leaks were not looked for\n");
    return findings_.count() == 0 ? 0 : exit_code_;
  }
  const std::lock_guard lock{mutex};
  for (const Fault& fault : cm.take_refusals(nullptr)) {
    report({"exit", nullptr}, nullptr, fault);
  }
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
  trace_.flush();
  summarize();
  return findings_.count() == 0 ? 0 : exit_code_;
}

void Checker::summarize() const {
  findings_.each_repeated([](const Finding& finding, std::size_t times) {
    std::array<char, 24> number{};
    std::snprintf(number.data(), number.size(), "%zu", times);
    for (const std::string_view part :
         {std::string_view{"verbs-check: ["}, std::string_view{finding.id}, std::string_view{"] came "},
          std::string_view{number.data()}, std::string_view{" times at "}, std::string_view{finding.where},
          std::string_view{"\n"}}) {
      say(part);
    }
  });
  if (findings_.count() != 0) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "verbs-check: %zu finding(s)\n", findings_.count());
    say(text.data());
  }
}

void Checker::summarize_if_free() {
  if (mutex.try_lock()) {
    trace_.flush();
    summarize();
    mutex.unlock();
  }
}

void Checker::forget_parent() {
  model.inherit();
  findings_ = {};
  process_ = 0;
}

}  // namespace verbs_check
