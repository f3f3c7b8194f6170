// What the checker has to say: findings, each with a stable id, printed once a place with a count at the end.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace verbs_check {

struct Finding {
  std::string id;       // stable, the name of its page: "leak"
  std::string what;     // one line
  std::string where;    // "function, file:line" of the call that it is about
  std::string objects;  // "QP 17 (made in main, a.cpp:12), ..."
  std::string why;      // why it matters
  std::string mend;     // how to mend it
};

// Collects findings. Not thread-safe: the caller holds the checker's lock.
class Findings {
public:
  // True when this is the first of its id at its place, and should be shown.
  bool add(Finding finding);

  [[nodiscard]] std::size_t count() const { return order_.size(); }

  // Calls work(finding, times) for each finding that came more than once. Allocates nothing.
  template <class Work>
  void each_repeated(Work work) const {
    for (const auto& [finding, times] : order_) {
      if (times > 1) {
        work(finding, times);
      }
    }
  }

private:
  std::map<std::pair<std::string, std::string>, std::size_t> index_;  // (id, where) to the place in order_
  std::vector<std::pair<Finding, std::size_t>> order_;
};

// The finding as text, several lines, each beginning with "verbs-check:".
[[nodiscard]] std::string to_text(const Finding& finding);

}  // namespace verbs_check
