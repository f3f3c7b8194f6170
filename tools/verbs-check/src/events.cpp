#include "events.hpp"

#include <algorithm>

namespace verbs_check {

void Events::armed(const void* cq, const void* channel, bool solicited_only) {
  Queue& queue = queues_[cq];
  queue.channel = channel;
  queue.solicited_only = solicited_only;
  ++queue.armed;
}

bool Events::is_armed(const void* cq) const {
  const auto found = queues_.find(cq);
  return found != queues_.end() && found->second.is_armed();
}

bool Events::is_solicited_only(const void* cq) const {
  const auto found = queues_.find(cq);
  return found != queues_.end() && found->second.solicited_only;
}

void Events::armed_in_vain(const void* cq, bool solicited_only) {
  Queue& queue = queues_[cq];
  queue.armed -= queue.is_armed() ? 1U : 0U;
  queue.solicited_only = solicited_only;
}

void Events::got(const void* cq, const void* channel) {
  Queue& queue = queues_[cq];
  queue.channel = channel;
  ++queue.got;
}

void Events::acked(const void* cq, unsigned count) { queues_[cq].acked += count; }

std::uint64_t Events::unacked(const void* cq) const {
  const auto found = queues_.find(cq);
  return found == queues_.end() || found->second.acked >= found->second.got ? 0
                                                                            : found->second.got - found->second.acked;
}

bool Events::can_come(const void* channel) const {
  return std::ranges::any_of(
      queues_, [&](const auto& entry) { return entry.second.channel == channel && entry.second.is_armed(); });
}

std::vector<const void*> Events::waiting(const void* channel) const {
  std::vector<const void*> result;
  for (const auto& [cq, queue] : queues_) {
    if (queue.channel == channel && queue.is_armed() && !queue.solicited_only) {
      result.push_back(cq);
    }
  }
  return result;
}

void Events::acked_async(const void* object) {
  if (const auto found = async_.find(object); found != async_.end() && --found->second == 0) {
    async_.erase(found);
  }
}

std::uint64_t Events::unacked_async(const void* object) const {
  const auto found = async_.find(object);
  return found == async_.end() ? 0 : found->second;
}

Events::Queue Events::take(const void* cq) {
  const auto taken = queues_.extract(cq);
  return taken.empty() ? Queue{} : taken.mapped();
}

void Events::forget(const void* object) {
  queues_.erase(object);
  async_.erase(object);
  readers_.erase(object);
}

}  // namespace verbs_check
