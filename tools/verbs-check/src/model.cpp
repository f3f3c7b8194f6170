#include "model.hpp"

#include <algorithm>
#include <array>

namespace verbs_check {

namespace {

struct KindTexts {
  const char* name;
  const char* create;
  const char* destroy;
};

constexpr std::array kinds{
    KindTexts{"device list", "ibv_get_device_list", "ibv_free_device_list"},
    KindTexts{"context", "ibv_open_device", "ibv_close_device"},
    KindTexts{"channel", "ibv_create_comp_channel", "ibv_destroy_comp_channel"},
    KindTexts{"PD", "ibv_alloc_pd", "ibv_dealloc_pd"},
    KindTexts{"MR", "ibv_reg_mr", "ibv_dereg_mr"},
    KindTexts{"CQ", "ibv_create_cq", "ibv_destroy_cq"},
    KindTexts{"SRQ", "ibv_create_srq", "ibv_destroy_srq"},
    KindTexts{"QP", "ibv_create_qp", "ibv_destroy_qp"},
    KindTexts{"AH", "ibv_create_ah", "ibv_destroy_ah"},
    KindTexts{"event channel", "rdma_create_event_channel", "rdma_destroy_event_channel"},
    KindTexts{"cm_id", "rdma_create_id", "rdma_destroy_id"},
    KindTexts{"cm event", "rdma_get_cm_event", "rdma_ack_cm_event"},
    KindTexts{"rdma_addrinfo", "rdma_getaddrinfo", "rdma_freeaddrinfo"},
    KindTexts{"list of contexts", "rdma_get_devices", "rdma_free_devices"},
    KindTexts{"DM", "ibv_alloc_dm", "ibv_free_dm"},
    KindTexts{"XRCD", "ibv_open_xrcd", "ibv_close_xrcd"},
    KindTexts{"flow", "ibv_create_flow", "ibv_destroy_flow"},
    KindTexts{"MW", "ibv_alloc_mw", "ibv_dealloc_mw"},
    KindTexts{"imported PD", "ibv_import_pd", "ibv_unimport_pd"},
    KindTexts{"imported MR", "ibv_import_mr", "ibv_unimport_mr"},
    KindTexts{"attachment", "ibv_attach_mcast", "ibv_detach_mcast"},
};

const KindTexts& texts(Kind kind) { return kinds.at(static_cast<std::size_t>(kind)); }

constexpr std::size_t tombstones_kept = 4096;

}  // namespace

const char* create_verb(Kind kind) { return texts(kind).create; }
const char* destroy_verb(Kind kind) { return texts(kind).destroy; }

Object& Model::add(const void* address, Kind kind, const void* made, std::set<const void*> used) {
  ++changes_;
  if (gone_.erase(address) != 0) {
    std::erase(gone_order_, address);
  }
  Object object;
  object.kind = kind;
  object.number = ++made_[kind];
  object.name = std::string{texts(kind).name} + " #" + std::to_string(object.number);
  object.made = made;
  object.destroy = texts(kind).destroy;
  object.used = std::move(used);
  object.sequence = ++sequence_;
  return living_[address] = std::move(object);
}

Object* Model::living(const void* address) {
  const auto found = living_.find(address);
  return found == living_.end() ? nullptr : &found->second;
}

const Object* Model::tombstone(const void* address) const {
  const auto found = gone_.find(address);
  return found == gone_.end() ? nullptr : &found->second;
}

std::vector<const Object*> Model::users(const void* address) const {
  std::vector<const Object*> result;
  for (const auto& [place, object] : living_) {
    if (object.used.contains(address)) {
      result.push_back(&object);
    }
  }
  std::ranges::sort(result, {}, &Object::sequence);
  return result;
}

void Model::remove(const void* address, const void* where) {
  ++changes_;
  const auto found = living_.find(address);
  if (found == living_.end()) {
    return;
  }
  found->second.gone = where;
  gone_[address] = std::move(found->second);
  gone_order_.push_back(address);
  living_.erase(found);
  if (gone_order_.size() > tombstones_kept) {
    gone_.erase(gone_order_.front());
    gone_order_.erase(gone_order_.begin());
  }
}

void Model::remove_users(const void* address, const void* where) {
  std::vector<const void*> users;
  for (const auto& [place, object] : living_) {
    if (object.used.contains(address)) {
      users.push_back(place);
    }
  }
  for (const void* const user : users) {
    remove_users(user, where);
    remove(user, where);
  }
}

void Model::restore(const void* address, Object object) {
  ++changes_;
  gone_.erase(address);
  std::erase(gone_order_, address);
  living_[address] = std::move(object);
}

void Model::inherit() {
  ++changes_;
  for (auto& [address, object] : living_) {
    object.is_inherited = true;
  }
}

std::vector<const Object*> Model::alive() const {
  std::vector<const Object*> result;
  for (const auto& [address, object] : living_) {
    if (!object.is_inherited) {
      result.push_back(&object);
    }
  }
  std::ranges::sort(result, {}, &Object::sequence);
  return result;
}

std::string describe(const Object& object, Resolve resolve) {
  std::string text = object.name + " (made in " + resolve(object.made);
  if (object.gone != nullptr) {
    text += ", destroyed in " + resolve(object.gone);
  }
  return text + ")";
}

std::string describe(const std::vector<const Object*>& objects, Resolve resolve) {
  std::string text;
  for (const Object* const object : objects) {
    text += (text.empty() ? "" : ", ") + describe(*object, resolve);
  }
  return text;
}

}  // namespace verbs_check
