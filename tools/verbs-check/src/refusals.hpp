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
[[nodiscard]] Fault resize_refused(int code, int entries, const ibv_device_attr& device);

// `stranger`: what is of another context than the PD, "send_cq"; empty when nothing is.
[[nodiscard]] Fault qp_refused(int code, ibv_qp_type type, const ibv_qp_cap& asked, const ibv_device_attr& device,
                               const std::string& stranger = {});
[[nodiscard]] Fault srq_refused(int code, const ibv_srq_attr& asked, const ibv_device_attr& device);

// ibv_modify_srq, of an SRQ that was asked for with `depth` and holds so many receives.
[[nodiscard]] Fault srq_change_refused(int code, const ibv_srq_attr& asked, int mask, std::uint64_t depth,
                                       std::uint64_t receives, const ibv_device_attr& device);

// ibv_attach_mcast and ibv_detach_mcast. `is_attached`: to just this group, as far as is known.
[[nodiscard]] Fault mcast_refused(int code, const char* verb, ibv_qp_type type, const ibv_gid& group, bool is_attached);

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
