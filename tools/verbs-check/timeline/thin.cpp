#include "timeline/thin.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace timeline {

namespace {

// Of some things with a time and a size each: the first and the last ones whose sizes make half of the limit.
template <class Thing>
void keep_ends(const std::vector<Thing>& things, std::vector<Index> some, std::size_t limit, const std::string& what,
               const std::function<std::size_t(const Thing&)>& size_of, std::vector<bool>& kept,
               std::vector<Gap>& gaps) {
  std::ranges::stable_sort(some, {}, [&](Index i) { return things[i].time; });
  std::size_t total = 0;
  for (const Index i : some) {
    total += size_of(things[i]);
    kept[i] = true;
  }
  if (total <= limit) {
    return;
  }
  const auto count_until = [&](auto begin, auto end) {
    std::size_t sum = 0;
    return std::find_if(begin, end, [&](Index i) { return (sum += size_of(things[i])) > limit / 2; });
  };
  const auto first = count_until(some.begin(), some.end());
  const auto last = count_until(some.rbegin(), std::make_reverse_iterator(first)).base();
  std::for_each(first, last, [&](Index i) { kept[i] = false; });
  const auto count = static_cast<std::size_t>(last - first);
  gaps.push_back(
      {.from = things[*first].time, .to = things[*(last - 1)].time, .what = std::to_string(count) + " " + what});
}

// An object is kept with what it lives in.
void keep_object(const Story& story, Index object, std::vector<bool>& kept) {
  while (object != none && !kept[object]) {
    kept[object] = true;
    object = story.objects[object].owner;
  }
}

}  // namespace

Selection thin(const Story& story, const Limits& limits) {
  Selection result;
  result.calls.resize(story.calls.size());
  result.objects.resize(story.objects.size());
  result.requests.resize(story.requests.size());
  result.findings.resize(story.findings.size());
  const auto calls_where = [&](bool is_rare) {
    std::vector<Index> some;
    for (Index i = 0; i < story.calls.size(); ++i) {
      if (story.calls[i].is_rare == is_rare) {
        some.push_back(i);
      }
    }
    return some;
  };
  const std::function<std::size_t(const Call&)> items = [](const Call& call) { return call.items; };
  keep_ends(story.calls, calls_where(false), limits.ordinary, "posts, polls and other calls that went well", items,
            result.calls, result.gaps);
  keep_ends(story.calls, calls_where(true), limits.rare,
            "calls that made, changed or destroyed objects, or failed, or have findings", items, result.calls,
            result.gaps);
  std::vector<Index> all(story.findings.size());
  std::iota(all.begin(), all.end(), Index{0});
  keep_ends<Finding>(
      story.findings, std::move(all), limits.findings, "findings", [](const Finding&) { return std::size_t{1}; },
      result.findings, result.gaps);

  for (Index i = 0; i < story.calls.size(); ++i) {
    if (result.calls[i]) {
      keep_object(story, story.calls[i].object, result.objects);
    }
  }
  for (Index i = 0; i < story.findings.size(); ++i) {
    if (result.findings[i]) {
      keep_object(story, story.findings[i].object, result.objects);
    }
  }
  for (Index i = 0; i < story.requests.size(); ++i) {
    const Request& request = story.requests[i];
    const bool is_kept = (request.post != none && result.calls[request.post]) ||
                         (request.post == none && request.completion != none && result.calls[request.completion]) ||
                         (request.end == End::failed && result.calls[request.completion]);
    result.requests[i] = is_kept;
    if (is_kept) {
      keep_object(story, request.object, result.objects);
    }
  }
  return result;
}

}  // namespace timeline
