// libFuzzer target: lab::parse_record, which reads what a stranger sends.
//
// It must take or refuse every 52 bytes, without reading beyond them; and whatever it takes must be the one record that
// format_record writes for that endpoint, but for upper case.
#include "common/errors.hpp"
#include "common/exchange.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < lab::record_size) {
    return 0;
  }
  // On the heap and no byte larger, so that AddressSanitizer sees a read behind the end.
  const std::unique_ptr<lab::Record> bytes = std::make_unique<lab::Record>();
  std::copy_n(data, bytes->size(), bytes->begin());
  lab::Endpoint endpoint;
  try {
    endpoint = lab::parse_record(*bytes);
  } catch (const lab::Error&) {
    return 0;
  }
  require(endpoint.qpn <= 0xffffffU && endpoint.psn <= 0xffffffU);
  const lab::Record again = lab::format_record(endpoint);
  std::ranges::transform(*bytes, bytes->begin(),
                         [](char byte) { return static_cast<char>(std::tolower(static_cast<unsigned char>(byte))); });
  require(again == *bytes);
  return 0;
}
