#include "refusals.hpp"

#include "names.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace verbs_check {

namespace {

std::string errno_text(int code) {
  const char* const name = strerrorname_np(code);
  return name == nullptr ? std::to_string(code) : name;
}

std::string refused(const char* verb, int code) { return std::string{verb} + " has refused: " + errno_text(code); }

struct Limit {
  const char* name;
  std::uint64_t asked;
  const char* limit_name;
  std::uint64_t limit;
};

// "max_send_wr 16777216 (max_qp_wr of the device: 1048576), ..."
template <std::size_t count>
std::string exceeded(const std::array<Limit, count>& limits) {
  std::string text;
  for (const Limit& limit : limits) {
    if (limit.asked > limit.limit) {
      text += (text.empty() ? "" : ", ") + std::string{limit.name} + " " + std::to_string(limit.asked) + " (" +
              limit.limit_name + " of the device: " + std::to_string(limit.limit) + ")";
    }
  }
  return text;
}

std::uint64_t positive(int value) { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

constexpr const char* zero_it = "a field that was never set: zero the structure before filling it (= {})";

}  // namespace

Fault no_device(const Kernel& kernel) {
  if (!kernel.devices.empty()) {
    const std::string what = "ibv_get_device_list knows no device, though the kernel has " + kernel.devices.front();
    if (!kernel.has_files) {
      return {"no-device", what, "a program reaches a device by its file, and there is no /dev/infiniband/uverbsN",
              "in a container pass the files in (docker run --device=/dev/infiniband); else load the module ib_uverbs"};
    }
    return {"no-device", what, "libibverbs finds a device only with the provider library of its driver",
            "install the package ibverbs-providers, and see that /etc/libibverbs.d names the provider"};
  }
  return {"no-device", "ibv_get_device_list knows no device",
          kernel.has_rxe_module ? "the module rdma_rxe is loaded, but no link was added"
                                : "the kernel has no RDMA device: no adapter with a driver, and no Soft-RoCE",
          "Soft-RoCE on an Ethernet interface: modprobe rdma_rxe; rdma link add rxe0 type rxe netdev INTERFACE"};
}

Fault open_refused(int code, const std::string& device) {
  return {"open-refused", refused("ibv_open_device", code) + " for " + device,
          code == ENOENT
              ? "the file /dev/infiniband/uverbsN may not be opened, or has gone: libibverbs says ENOENT for both"
              : "the file /dev/infiniband/uverbsN may not be opened",
          "in a container pass the files in (docker run --device=/dev/infiniband); else see their owner and mode"};
}

Fault cq_refused(int code, int entries, int vector, const ibv_device_attr& device, int vectors) {
  Fault fault{"cq-refused", refused("ibv_create_cq", code), "",
              "ask for what is needed, within the limits of the device"};
  if (entries < 1) {
    fault.why = "a CQ has at least one entry; cqe is " + std::to_string(entries);
  } else if (entries > device.max_cqe) {
    fault.why = "cqe " + std::to_string(entries) + " is above max_cqe of the device: " + std::to_string(device.max_cqe);
  } else if (vector < 0 || vector >= vectors) {
    fault.why = "comp_vector " + std::to_string(vector) +
                " is not below num_comp_vectors of the context: " + std::to_string(vectors);
  } else {
    fault.why = code == ENOMEM ? "the device or the memory that may be locked (RLIMIT_MEMLOCK) is used up"
                               : "the device does not say";
  }
  return fault;
}

Fault resize_refused(int code, int entries, const ibv_device_attr& device) {
  Fault fault{"cq-refused", refused("ibv_resize_cq", code) + " for " + std::to_string(entries) + " entries", "",
              "poll before a CQ is made smaller, and ask for what is needed, within the limits of the device"};
  if (entries < 1) {
    fault.why = "a CQ has at least one entry";
  } else if (entries > device.max_cqe) {
    fault.why = "max_cqe of the device is " + std::to_string(device.max_cqe);
  } else if (code == EOPNOTSUPP || code == ENOSYS) {
    fault.why = "the device does not offer it";
    fault.mend = "ask ibv_create_cq for all that the CQ will need";
  } else {
    fault.why = "likely: there are more completions in the CQ than it shall have entries; it stays as it was";
  }
  return fault;
}

Fault qp_refused(int code, ibv_qp_type type, const ibv_qp_cap& asked, const ibv_device_attr& device,
                 const std::string& stranger) {
  Fault fault{"qp-refused", refused("ibv_create_qp", code) + " for " + std::string{type_name(type)}, "",
              "ask for what is needed: the limits of a device are not a recipe, and hold for one attribute at a time"};
  const std::array limits{Limit{"max_send_wr", asked.max_send_wr, "max_qp_wr", positive(device.max_qp_wr)},
                          Limit{"max_recv_wr", asked.max_recv_wr, "max_qp_wr", positive(device.max_qp_wr)},
                          Limit{"max_send_sge", asked.max_send_sge, "max_sge", positive(device.max_sge)},
                          Limit{"max_recv_sge", asked.max_recv_sge, "max_sge", positive(device.max_sge)}};
  if (const std::string text = exceeded(limits); !text.empty()) {
    fault.why = "asked for " + text;
  } else if (!stranger.empty()) {
    fault.why = stranger + " is of another context than the PD: each ibv_open_device is one, also for the same device";
    fault.mend = "make the PD and all that the QP uses on one context";
  } else if (code == EOPNOTSUPP || code == ENOSYS) {
    fault.why = "the device does not offer this type";
    fault.mend = "use RC, UC or UD";
  } else if (code == ENOMEM) {
    fault.why = "the device cannot grant this combination: max_send_wr " + std::to_string(asked.max_send_wr) +
                ", max_send_sge " + std::to_string(asked.max_send_sge) + ", max_inline_data " +
                std::to_string(asked.max_inline_data) + ", max_recv_wr " + std::to_string(asked.max_recv_wr);
  } else {
    fault.why = "likely, in this order: " +
                (asked.max_inline_data == 0
                     ? std::string{}
                     : "max_inline_data " + std::to_string(asked.max_inline_data) + " is more than the device has; ") +
                zero_it;
  }
  return fault;
}

Fault srq_refused(int code, const ibv_srq_attr& asked, const ibv_device_attr& device) {
  const std::array limits{Limit{"max_wr", asked.max_wr, "max_srq_wr", positive(device.max_srq_wr)},
                          Limit{"max_sge", asked.max_sge, "max_srq_sge", positive(device.max_srq_sge)}};
  const std::string text = exceeded(limits);
  return {"srq-refused", refused("ibv_create_srq", code),
          text.empty() ? "likely: max_wr is 0, or " + std::string{zero_it} : "asked for " + text,
          "ask for what is needed, within the limits of the device"};
}

Fault srq_change_refused(int code, const ibv_srq_attr& asked, int mask, std::uint64_t depth, std::uint64_t receives,
                         const ibv_device_attr& device) {
  Fault fault{"srq-refused", refused("ibv_modify_srq", code), "",
              "ask for what is needed, within the limits of the device; the SRQ stays as it was"};
  const bool changes_depth = (mask & IBV_SRQ_MAX_WR) != 0;
  const std::uint64_t now = changes_depth ? asked.max_wr : depth;
  if (changes_depth && asked.max_wr > positive(device.max_srq_wr)) {
    fault.why = "max_wr " + std::to_string(asked.max_wr) +
                " is above max_srq_wr of the device: " + std::to_string(device.max_srq_wr);
  } else if (changes_depth && asked.max_wr < receives) {
    fault.why = "max_wr " + std::to_string(asked.max_wr) +
                " is less than the receives that are posted: " + std::to_string(receives);
  } else if ((mask & IBV_SRQ_LIMIT) != 0 && asked.srq_limit > now) {
    fault.why = "srq_limit " + std::to_string(asked.srq_limit) + " is above max_wr: " + std::to_string(now);
  } else if (changes_depth && (device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) == 0) {
    fault.why = "the device does not change max_wr: its device_cap_flags are without IBV_DEVICE_SRQ_RESIZE";
    fault.mend = "ask ibv_create_srq for all that the SRQ will need; it stays as it was";
  } else {
    fault.why = "likely: " + std::string{zero_it};
  }
  return fault;
}

Fault mcast_refused(int code, const char* verb, ibv_qp_type type, const ibv_gid& group, bool is_attached) {
  Fault fault{"mcast-refused", refused(verb, code), "", ""};
  // ff00::/8, or an IPv4 address of 224.0.0.0/4 in the form of an IPv6 address.
  constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool is_group = group.raw[0] == 0xff ||
                        (std::memcmp(group.raw, mapped.data(), mapped.size()) == 0 && (group.raw[12] & 0xf0U) == 0xe0);
  const bool attaches = std::string_view{verb} == "ibv_attach_mcast";
  if (type != IBV_QPT_UD) {
    fault.why = "only a UD QP can receive from a multicast group; this one is " + std::string{type_name(type)};
    fault.mend = "make a QP of type IBV_QPT_UD for it";
  } else if (!is_group) {
    fault.why = "the GID is no address of a group: its first byte is " + hex(group.raw[0]) + ", not 0xff";
    fault.mend = "the GID of a group begins with 0xff, or is an IPv4-mapped address of 224.0.0.0/4";
  } else if (!attaches && !is_attached) {
    fault.why = "the QP is not attached to this group";
    fault.mend = "detach once from each group that ibv_attach_mcast has answered 0 for, with the same GID and LID";
  } else if (code == EOPNOTSUPP || code == ENOSYS) {
    fault.why = "the device does not offer multicast";
    fault.mend = "send a message to each receiver";
  } else {
    fault.why = code == ENOMEM ? "the device has no group, or no place in this one, left"
                               : "likely: the LID is none of a group (on InfiniBand 0xc000 to 0xfffe)";
    fault.mend =
        "compare with max_mcast_grp and max_mcast_qp_attach of the device, and with what the subnet manager gave";
  }
  return fault;
}

Fault mr_refused(int code, const Registration& asked, const ibv_device_attr& device) {
  Fault fault{"mr-refused",
              refused("ibv_reg_mr", code) + " for " + std::to_string(asked.length) + " bytes with " +
                  access_names(asked.access),
              "", ""};
  constexpr unsigned remote_changes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if (code == EINVAL && (asked.access & remote_changes) != 0 && (asked.access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    fault.why = "where the peer may write, the device must be allowed to write locally too";
    fault.mend = "add IBV_ACCESS_LOCAL_WRITE";
  } else if (code == EFAULT) {
    fault.why = (asked.access & (IBV_ACCESS_LOCAL_WRITE | remote_changes)) != 0
                    ? "a part of the range is not memory of this process, or is read-only (a constant, a mapped file)"
                    : "a part of the range is not memory of this process";
    fault.mend =
        "register what malloc, mmap or an object really has; leave IBV_ACCESS_LOCAL_WRITE away for what is only "
        "read; memory of a GPU needs a driver that shares it";
  } else if (code == ENOMEM) {
    fault.why = asked.memlock == UINT64_MAX
                    ? "there is not so much memory that can be locked, or the device has no region left (max_mr)"
                    : "the process may lock " + std::to_string(asked.memlock) +
                          " bytes (RLIMIT_MEMLOCK), all its regions together";
    fault.mend =
        asked.memlock == UINT64_MAX
            ? "register less"
            : "raise it where the process is started (ulimit -l, LimitMEMLOCK= of a service, --ulimit memlock of a "
              "container): a changed limits.conf holds from the next login on";
  } else if (device.max_mr_size != 0 && asked.length > device.max_mr_size) {
    fault.why = "max_mr_size of the device is " + std::to_string(device.max_mr_size);
    fault.mend = "register it in parts";
  } else {
    fault.why =
        "likely, in this order: the access flags do not go together; the length is 0 or wraps around; the device "
        "does not offer a flag";
    fault.mend = "begin with IBV_ACCESS_LOCAL_WRITE and add what the peer needs";
  }
  return fault;
}

Fault ah_refused(int code, const ibv_ah_attr& asked, int link_layer) {
  Fault fault{"ah-refused", refused("ibv_create_ah", code), "",
              "zero the ibv_ah_attr, and fill port_num, is_global and grh"};
  if (link_layer == IBV_LINK_LAYER_ETHERNET && asked.is_global == 0) {
    fault.why = "is_global is 0: RoCE has no LIDs, and the address of the peer is the GID in grh";
  } else if (code == ENODATA) {
    fault.why = "the GID table is empty at sgid_index " + std::to_string(asked.grh.sgid_index);
  } else {
    fault.why = "likely, in this order: port_num " + std::to_string(asked.port_num) +
                " is none of the device; sgid_index or dgid is no address; " + zero_it;
  }
  return fault;
}

Fault modify_refused(int code, const std::string& step) {
  Fault fault{"modify-refused", refused("ibv_modify_qp", code) + " for " + step, "",
              "look at the attributes with ./lab trace or a debugger, right before the call"};
  switch (code) {
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
      fault.why = "the address of the destination GID could not be resolved: no route, or nobody there";
      fault.mend = "ping the address of the peer; send the GID at the peer's own sgid_index";
      break;
    case EINVAL:
      fault.why =
          std::string{
              "no rule of the specification is broken as far as the checker sees. Likely, in this order: "
              "the destination GID is of another family than the one at sgid_index; an attribute is above a "
              "limit of the device; "} +
          zero_it;
      break;
    default:
      fault.why = "the device does not say";
      break;
  }
  return fault;
}

Fault post_refused(int code, const char* verb, bool has_srq) {
  if (has_srq) {
    return {"post-refused", refused(verb, code), "the QP has a shared receive queue, and none of its own",
            "post the receive to the SRQ: ibv_post_srq_recv"};
  }
  return {"post-refused", refused(verb, code),
          code == ENOMEM ? "the queue is full"
                         : "the request breaks a limit of the QP, or the QP is in a state that does not "
                           "take it",
          code == ENOMEM
              ? "poll completions before posting more"
              : "look at the state of the QP (ibv_query_qp), and at num_sge and the length against its ibv_qp_cap"};
}

}  // namespace verbs_check
