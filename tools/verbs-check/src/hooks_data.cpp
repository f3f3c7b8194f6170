// The verbs that move data. They are inline functions over context->ops, so they are hooked by replacing those pointers
// in each context that is opened.
#include "hooks_data.hpp"

#include "hook.hpp"
#include "names.hpp"

#include <array>
#include <atomic>

namespace verbs_check {

namespace {

// The original functions of each open context; few contexts, looked up without a lock.
struct Original {
  std::atomic<ibv_context*> context{nullptr};
  ibv_context_ops ops{};
};

constexpr std::size_t contexts = 64;
std::array<Original, contexts> originals;

const ibv_context_ops& original(const ibv_context* context) {
  for (const Original& entry : originals) {
    if (entry.context.load(std::memory_order_acquire) == context) {
      return entry.ops;
    }
  }
  std::abort();  // our function is in the table of a context that we never changed
}

void report_all(const Call& call, const void* qp, const std::vector<Fault>& faults) {
  Checker& checker = Checker::get();
  const Object* const object = checker.model.living(qp);
  for (const Fault& fault : faults) {
    checker.report(call, fault.id, fault.what, object == nullptr ? "" : describe(*object, resolve), fault.why,
                   fault.mend);
  }
}

std::int64_t length_of(const ibv_sge* ranges, int count) {
  std::int64_t length = 0;
  for (int i = 0; i < count; ++i) {
    length += ranges[i].length;
  }
  return length;
}

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  const Call call{"ibv_post_send", __builtin_return_address(0)};
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    for (const ibv_send_wr* request = requests; request != nullptr; request = request->next) {
      if (const auto faults = checker.data.faults_of_send(qp, *request); !faults.empty()) {
        report_all(call, qp, faults);
      }
      // Counted before the verb: its completion may be polled by another thread before this one is back.
      checker.data.posted(qp, *request);
    }
  }
  int result = checker.injected(call);
  if (result == 0) {
    *bad = nullptr;  // some drivers leave it alone, and the program's may be anything
    result = original(qp->context).post_send(qp, requests, bad);
  } else {
    *bad = requests;
  }
  if (result != 0) {
    const std::lock_guard lock{checker.mutex};
    for (const ibv_send_wr* request = *bad; request != nullptr; request = request->next) {
      checker.data.refused(qp);
    }
  }
  checker.record(call, qp, result, [&](Line& line) {
    line.open("requests", '[');
    for (const ibv_send_wr* request = requests; request != nullptr; request = request->next) {
      line.open("", '{')
          .add("wr_id", static_cast<std::int64_t>(request->wr_id))
          .add("opcode", opcode_name(request->opcode))
          .add("send_flags", send_flag_names(request->send_flags))
          .add("length", length_of(request->sg_list, request->num_sge))
          .close();
    }
    line.close();
  });
  return result;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  const Call call{"ibv_post_recv", __builtin_return_address(0)};
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    for (const ibv_recv_wr* request = requests; request != nullptr; request = request->next) {
      if (const auto faults = checker.data.faults_of_receive(qp, *request); !faults.empty()) {
        report_all(call, qp, faults);
      }
    }
  }
  int result = checker.injected(call);
  if (result == 0) {
    result = original(qp->context).post_recv(qp, requests, bad);
  } else {
    *bad = requests;
  }
  checker.record(call, qp, result, [&](Line& line) {
    line.open("requests", '[');
    for (const ibv_recv_wr* request = requests; request != nullptr; request = request->next) {
      line.open("", '{')
          .add("wr_id", static_cast<std::int64_t>(request->wr_id))
          .add("length", length_of(request->sg_list, request->num_sge))
          .close();
    }
    line.close();
  });
  return result;
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  const Call call{"ibv_poll_cq", __builtin_return_address(0)};
  const int found = original(cq->context).poll_cq(cq, entries, completions);
  if (found <= 0) {  // by far the most frequent: nothing to note, and nothing to pay
    return found;
  }
  Checker& checker = Checker::get();
  {
    const std::lock_guard lock{checker.mutex};
    for (int i = 0; i < found; ++i) {
      ibv_wc& completion = completions[i];
      checker.data.polled(completion.qp_num, completion);
      if (completion.status != IBV_WC_SUCCESS) {
        // What is not defined shall not look as if it were: a program that reads it fails here too, not only on
        // hardware.
        completion.opcode = static_cast<ibv_wc_opcode>(0x7e);
        completion.byte_len = 0xa5a5a5a5;
        completion.imm_data = 0xa5a5a5a5;
        completion.src_qp = 0xa5a5a5;
      }
    }
  }
  checker.record(call, cq, found, [&](Line& line) {
    line.add("num_entries", entries).close().open("completions", '[');
    for (int i = 0; i < found; ++i) {
      const ibv_wc& completion = completions[i];
      line.open("", '{')
          .add("qp", checker.name(checker.data.qp_of(completion.qp_num, cq)))
          .add("wr_id", static_cast<std::int64_t>(completion.wr_id))
          .add("status", status_name(completion.status));
      if (completion.status == IBV_WC_SUCCESS) {
        line.add("opcode", opcode_name(completion.opcode)).add("byte_len", completion.byte_len);
      }
      line.close();
    }
  });
  return found;
}

}  // namespace

void watch_data(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  for (Original& entry : originals) {
    if (entry.context.load() == nullptr) {
      entry.ops = context->ops;
      entry.context.store(context, std::memory_order_release);
      context->ops.post_send = post_send;
      context->ops.post_recv = post_recv;
      context->ops.poll_cq = poll_cq;
      return;
    }
  }
}

void unwatch_data(ibv_context* context) {
  const std::lock_guard lock{Checker::get().mutex};
  for (Original& entry : originals) {
    if (entry.context.load() == context) {
      context->ops = entry.ops;
      entry.context.store(nullptr);
      return;
    }
  }
}

}  // namespace verbs_check
