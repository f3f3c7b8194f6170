// What a rule has found: a finding without its place.
#pragma once

#include <string>
#include <vector>

namespace verbs_check {

struct Fault {
  std::string id;    // of the finding
  std::string what;  // "INIT to RTR without IBV_QP_RQ_PSN"
  std::string why;
  std::string mend;
  const void* where = nullptr;         // a return address, when it is another than that of the call
  std::vector<const void*> objects{};  // what is named besides the object of the call
};

}  // namespace verbs_check
