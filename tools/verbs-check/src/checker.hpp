// The one checker of a process: what it knows, what it was told, what it has found.
#pragma once

#include "cm.hpp"
#include "datapath.hpp"
#include "events.hpp"
#include "finding.hpp"
#include "inject.hpp"
#include "model.hpp"
#include "trace.hpp"
#include "where.hpp"

#include <sys/single_threaded.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace verbs_check {

// The checker's lock. A thread that holds it is inside the checker: what it allocates and frees there is no business of
// the program's.
class Mutex {
public:
  void lock() {
    // While there is one thread there is nobody to be kept out, and nobody comes before this one is out again.
    if (__libc_single_threaded != 0) {
      is_locked_ = false;
    } else {
      mutex_.lock();
      is_locked_ = true;
    }
    held() = true;
  }
  void unlock() {
    held() = false;
    if (is_locked_) {
      mutex_.unlock();
    }
  }
  bool try_lock() {
    if (is_held_here() || !mutex_.try_lock()) {
      return false;
    }
    is_locked_ = true;
    held() = true;
    return true;
  }
  [[nodiscard]] static bool is_held_here() { return held(); }

private:
  static bool& held() {
    static thread_local bool value __attribute__((tls_model("initial-exec"))) = false;
    return value;
  }
  std::mutex mutex_;
  bool is_locked_ = false;  // of whoever holds this
};

// One call of the program into the library.
struct Call {
  const char* verb;
  const void* where;
  bool is_inner = false;  // made by librdmacm for the program, whose own call `where` is
};

class Checker {
public:
  // Made at the first call; its settings come from the environment, where the command put them.
  static Checker& get() {
    Checker* const made = get_if_made();
    return made != nullptr ? *made : make();
  }

  // The same, but null before the first call. For hooks of functions that are called before anything is set up.
  static Checker* get_if_made() { return instance_.load(std::memory_order_acquire); }

  // Whoever uses model, data or findings holds this. It is never held while a verb runs: some of them block.
  Mutex mutex;
  Model model;
  DataPath data;
  Events events;
  Cm cm;

  // Shows a finding, unless the same was shown for this place. Under the mutex.
  void report(const Call& call, std::string id, std::string what, std::string objects, std::string why,
              std::string mend);

  // The same for what a rule has found in a call on this object, which may be null.
  void report(const Call& call, const void* object, const Fault& fault);
  void report(const Call& call, const void* object, const std::vector<Fault>& faults);

  // How a device would answer that does not forgive: see docs/verbs-check/README.md.
  [[nodiscard]] bool is_strict() const { return is_strict_; }

  // How long a program polls in vain before it is told why.
  [[nodiscard]] std::int64_t patience_ns() const { return patience_ns_; }

  // The status with which the next successful completion shall be handed out, or IBV_WC_SUCCESS. Under the mutex.
  ibv_wc_status injected_status() { return completion_injector_.next(); }

  // Says something that is no finding, once. Under the mutex.
  void note(const std::string& text);

  // The errno value with which the call shall fail instead of being made, or 0.
  int injected(const Call& call) { return injector_.is_idle() ? 0 : next_injected(call); }

  // One line of the trace, if there is one. `arguments` is given the line to add the arguments of the call to, by the
  // names of its man page; it is called under the mutex, and only when there is a trace.
  template <class Arguments>
  void record(const Call& call, const void* object, std::int64_t result, Arguments arguments) {
    if (trace_.is_open()) {
      const std::lock_guard lock{mutex};
      Line line = this->line(call, object, result);
      line.open("args", '{');
      arguments(line);
      trace_.add(line);
      trace_.flush();
    }
  }

  // The same for the verbs that move data: their lines may wait a little, see docs/verbs-check/trace.md. `entries` is
  // given the trace, to add an Entry for each request or completion.
  template <class Entries>
  void record_often(Shape shape, const Call& call, const void* object, std::int64_t result, std::int64_t num_entries,
                    Entries entries) {
    if (trace_.is_open()) {
      const std::lock_guard lock{mutex};
      Batch batch = this->batch(shape, call, object, result, num_entries);
      entries(trace_);
      trace_.add(batch);
    }
  }

  // The name of the QP with this number whose completions come to this CQ: stays until the trace is settled. Under the
  // mutex.
  const std::string* name_of_qp(std::uint32_t number, const void* cq);

  // Writes what waits.
  void flush_trace() {
    if (trace_.has_waiting()) {
      const std::lock_guard lock{mutex};
      trace_.flush();
    }
  }
  void record(const Call& call, const void* object, std::int64_t result) {
    record(call, object, result, [](Line&) {});
  }

  // "CQ #1": the name of an object that lives or has lived, for the trace; empty when it is not known. Under the mutex.
  [[nodiscard]] std::string_view name(const void* object);

  // The end of the program: what still lives, the summary. Returns the exit status to force, or 0.
  int finish();

  // The summary alone, in the handler of a signal that ends the program; nothing when the checker itself is at work.
  void summarize_if_free();

  // This process is the child of a fork: what its parent has made and found is not the child's. Under the mutex.
  void forget_parent();

private:
  Checker();
  static Checker& make();
  static inline std::atomic<Checker*> instance_{nullptr};
  int next_injected(const Call& call);
  void open_trace();

  // What was found more than once, and how much it is in all. Allocates nothing.
  void summarize() const;

  // A line that has the first fields already.
  Line line();
  Line line(const Call& call, const void* object, std::int64_t result);

  // resolve() as a text of JSON, remembered: a trace asks for the same few places again and again.
  const std::string& place(const void* address);

  // The first line of a process.
  void start();

  Batch batch(Shape shape, const Call& call, const void* object, std::int64_t result, std::int64_t num_entries);

  // The same few calls on the same few objects come again and again: what was looked up holds as long as no object has
  // come or gone.
  struct KnownCall {
    const void* where = nullptr;
    const void* object = nullptr;
    const char* verb = nullptr;
    std::uint64_t changes = 0;
    Beginning beginning;
  };
  struct KnownQp {
    const void* cq = nullptr;
    std::uint32_t number = 0;
    std::uint64_t changes = 0;
    const std::string* name = nullptr;
  };
  const Beginning& beginning(const Call& call, const void* object);
  std::array<KnownCall, 32> known_calls_;
  std::array<KnownQp, 32> known_qps_;
  std::set<std::string, std::less<>> names_of_qps_;  // that batches point to

  Findings findings_;
  std::map<const void*, std::string> places_;
  Injector injector_;
  CompletionInjector completion_injector_;
  Trace trace_;
  int process_ = 0;  // whose first line was written; 0: none was yet
  int exit_code_ = 0;
  bool is_strict_ = false;
  std::int64_t patience_ns_ = 5'000'000'000;
  std::set<std::string> notes_;
};

}  // namespace verbs_check
