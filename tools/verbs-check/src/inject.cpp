#include "inject.hpp"

#include "names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace verbs_check {

namespace {

// A whole number that fills the text, or -1.
long number(std::string_view text) {
  long value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && stop == text.data() + text.size() ? value : -1;
}

// They return nothing: there is no way to fail.
constexpr std::array<std::string_view, 11> cannot_fail{
    "ibv_free_device_list", "ibv_ack_async_event", "ibv_ack_cq_events", "ibv_unimport_pd",
    "ibv_unimport_mr",      "rdma_destroy_qp",     "rdma_destroy_srq",  "rdma_destroy_event_channel",
    "rdma_destroy_ep",      "rdma_freeaddrinfo",   "rdma_free_devices"};

}  // namespace

int errno_value(std::string_view text) {
  constexpr int highest = 133;  // EHWPOISON, the last one of Linux
  if (const long value = number(text); value > 0) {
    return value <= highest ? static_cast<int>(value) : 0;
  }
  for (int code = 1; code <= highest; ++code) {
    const char* const name = strerrorname_np(code);
    if (name != nullptr && text == name) {
      return code;
    }
  }
  return 0;
}

std::string Injector::parse(std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(one.size() == text.size() ? one.size() : one.size() + 1);

    const auto equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0 || one.front() == ':') {
      return "'" + std::string{one} + "' is not of the form VERB[:N]=ERRNO";
    }
    std::string_view verb = one.substr(0, equals);
    Failure failure;
    failure.code = errno_value(one.substr(equals + 1));
    if (failure.code == 0) {
      return "'" + std::string{one.substr(equals + 1)} + "' is no errno, as name or number";
    }
    if (const auto colon = verb.find(':'); colon != std::string_view::npos) {
      const std::string_view which = verb.substr(colon + 1);
      verb = verb.substr(0, colon);
      const long at = which == "every" ? 0 : number(which);
      if (at < 0 || (at == 0 && which != "every")) {
        return "'" + std::string{which} + "' is neither a number from 1 on nor 'every'";
      }
      failure.at = static_cast<std::uint64_t>(at);
    }
    if (std::ranges::find(cannot_fail, verb) != cannot_fail.end()) {
      return std::string{verb} + " returns nothing and cannot fail";
    }
    wanted_[std::string{verb}] = failure;
  }
  return {};
}

int Injector::next(std::string_view verb) {
  const auto wanted = wanted_.find(verb);
  if (wanted == wanted_.end()) {
    return 0;
  }
  const std::uint64_t call = ++calls_[wanted->first];
  return wanted->second.at == 0 || wanted->second.at == call ? wanted->second.code : 0;
}

ibv_wc_status status_value(std::string_view text) {
  constexpr std::string_view prefix = "IBV_WC_";
  for (int value = IBV_WC_SUCCESS + 1; value <= IBV_WC_TM_RNDV_INCOMPLETE; ++value) {
    const auto status = static_cast<ibv_wc_status>(value);
    const std::string_view name = status_name(status);
    if (text == name || text == name.substr(prefix.size()) || number(text) == value) {
      return status;
    }
  }
  return IBV_WC_SUCCESS;
}

std::string CompletionInjector::parse(std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(one.size() == text.size() ? one.size() : one.size() + 1);
    const auto equals = one.find('=');
    const std::string_view which = one.substr(0, equals);
    const long at = which == "every" ? 0 : number(which);
    if (equals == std::string_view::npos || at < 0 || (at == 0 && which != "every")) {
      return "'" + std::string{one} + "' is not of the form N=STATUS, with N a number from 1 on or 'every'";
    }
    const ibv_wc_status status = status_value(one.substr(equals + 1));
    if (status == IBV_WC_SUCCESS) {
      return "'" + std::string{one.substr(equals + 1)} + "' is no failure of ibv_wc_status, as name or number";
    }
    wanted_[static_cast<std::uint64_t>(at)] = status;
  }
  return {};
}

ibv_wc_status CompletionInjector::next() {
  if (wanted_.empty()) {
    return IBV_WC_SUCCESS;
  }
  ++completions_;
  for (const std::uint64_t at : {completions_, std::uint64_t{0}}) {
    if (const auto found = wanted_.find(at); found != wanted_.end()) {
      return found->second;
    }
  }
  return IBV_WC_SUCCESS;
}

}  // namespace verbs_check
