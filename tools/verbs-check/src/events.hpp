// Events of completion queues, and asynchronous events of all objects: what was asked for, what came, and what was
// acknowledged. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace verbs_check {

class Events {
public:
  // ibv_req_notify_cq on a CQ whose events come to this channel. Being armed is a state, which one event ends: whether
  // the event of an earlier call has come meanwhile, and this call asks for another one, only the caller can know.
  void armed(const void* cq, const void* channel, bool solicited_only);

  // Each arming has its event, as far as is known, or not.
  [[nodiscard]] bool is_armed(const void* cq) const;

  // The last call has asked for nothing new: it has failed, or the CQ was armed all the time, for events of any
  // completion unless `solicited_only`.
  void armed_in_vain(const void* cq, bool solicited_only);

  // ibv_get_cq_event gave an event of this CQ; ibv_ack_cq_events took `count` of them back.
  void got(const void* cq, const void* channel);
  void acked(const void* cq, unsigned count);

  // The events that ibv_destroy_cq would wait for; more acknowledgements than events are 0.
  [[nodiscard]] std::uint64_t unacked(const void* cq) const;

  // False when each arming of a CQ of this channel has had its event: no other one can come.
  [[nodiscard]] bool can_come(const void* channel) const;

  // What this CQ was last armed for.
  [[nodiscard]] bool is_solicited_only(const void* cq) const;

  // The CQs of this channel that wait for an event of any completion, not only of a solicited one.
  [[nodiscard]] std::vector<const void*> waiting(const void* channel) const;

  // The same for asynchronous events, of any object.
  void got_async(const void* object) { ++async_[object]; }
  void acked_async(const void* object);
  [[nodiscard]] std::uint64_t unacked_async(const void* object) const;

  // Somebody reads the asynchronous events of this device.
  void reads_async(const void* context) { readers_.insert(context); }
  [[nodiscard]] bool is_async_read(const void* context) const { return readers_.contains(context); }

  // A new object stands at this address.
  void forget(const void* object);

  struct Queue {
    const void* channel = nullptr;
    std::uint64_t armed = 0;  // events that were asked for; when in doubt too many: then an event is missed here, and
                              // none invented
    std::uint64_t got = 0;
    std::uint64_t acked = 0;
    bool solicited_only = false;

    [[nodiscard]] bool is_armed() const { return armed > got; }
  };

  // A CQ is about to be destroyed: removes and returns what is known of it, for put() in case it is not.
  Queue take(const void* cq);
  void put(const void* cq, const Queue& queue) { queues_[cq] = queue; }

private:
  std::map<const void*, Queue> queues_;
  std::map<const void*, std::uint64_t> async_;
  std::set<const void*> readers_;
};

}  // namespace verbs_check
