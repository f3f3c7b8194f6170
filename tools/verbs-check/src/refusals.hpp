// Why a verb has refused to make something: its errno value together with what was asked for and what the device has.
// Pure.
#pragma once

#include "fault.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

namespace verbs_check {

// What the kernel knows of devices, for a program that was told of none.
struct Kernel {
  std::vector<std::string> devices;  // names below /sys/class/infiniband
  bool has_files = true;             // /dev/infiniband/uverbsN of any of them
  bool has_rxe_module = false;
};
[[nodiscard]] Fault no_device(const Kernel& kernel);

[[nodiscard]] Fault open_refused(int code, const std::string& device);
[[nodiscard]] Fault cq_refused(int code, int entries, int vector, const ibv_device_attr& device, int vectors);
[[nodiscard]] Fault qp_refused(int code, ibv_qp_type type, const ibv_qp_cap& asked, const ibv_device_attr& device);
[[nodiscard]] Fault srq_refused(int code, const ibv_srq_attr& asked, const ibv_device_attr& device);

// `memlock` is RLIMIT_MEMLOCK in bytes, UINT64_MAX for none; `device` may be all zeros where it is not known.
struct Registration {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  unsigned access = 0;
  std::uint64_t memlock = UINT64_MAX;
};
[[nodiscard]] Fault mr_refused(int code, const Registration& asked, const ibv_device_attr& device);

[[nodiscard]] Fault ah_refused(int code, const ibv_ah_attr& asked, int link_layer);
[[nodiscard]] Fault modify_refused(int code, const std::string& step);
[[nodiscard]] Fault post_refused(int code, const char* verb, bool has_srq = false);

}  // namespace verbs_check
