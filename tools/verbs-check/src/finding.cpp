#include "finding.hpp"

namespace verbs_check {

namespace {

void line(std::string& text, const char* label, const std::string& content) {
  if (!content.empty()) {
    text += std::string{"verbs-check:   "} + label + content + "\n";
  }
}

}  // namespace

bool Findings::add(Finding finding) {
  const auto [place, is_new] = index_.try_emplace({finding.id, finding.where}, order_.size());
  if (!is_new) {
    ++order_[place->second].second;
    return false;
  }
  order_.emplace_back(std::move(finding), 1);
  return true;
}

std::string to_text(const Finding& finding) {
  std::string text = "verbs-check: [" + finding.id + "] " + finding.what + "\n";
  line(text, "where:   ", finding.where);
  line(text, "objects: ", finding.objects);
  line(text, "why:     ", finding.why);
  line(text, "mend:    ", finding.mend);
  line(text, "more:    docs/verbs-check/", finding.id + ".md");
  return text;
}

}  // namespace verbs_check
