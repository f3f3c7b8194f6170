// The objects of a program, as the checker knows them: who made them, who lives in whom, and which are gone.
// A pure data structure: it calls no verb, and the unit tests run it without a device.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace verbs_check {

enum class Kind {
  device_list,
  context,
  channel,
  pd,
  mr,
  cq,
  srq,
  qp,
  ah,
  event_channel,
  cm_id,
  cm_event,
  cm_addresses,
  cm_devices,
  dm,
  xrcd,
  flow,
  mw,
  imported_pd,
  imported_mr,
  attachment
};

[[nodiscard]] const char* create_verb(Kind kind);   // "ibv_create_cq"
[[nodiscard]] const char* destroy_verb(Kind kind);  // "ibv_destroy_cq"

struct Object {
  Kind kind = Kind::context;
  std::uint64_t sequence = 0;     // the how-manieth of all
  std::uint64_t number = 0;       // the how-manieth of its kind, from 1: a name that is the same in every run
  std::string name;               // "CQ #2", "QP 0x000011"
  const void* made = nullptr;     // the call that made it: a return address
  const char* destroy = nullptr;  // the verb that gives it back; null: a library made it for itself, and keeps it
  bool is_inherited = false;      // made by the process that this one was forked from
  const void* gone = nullptr;     // the call that destroyed it; null while it lives
  std::set<const void*> used;     // what it needs: its context, PD, CQs ...
};

class Model {
public:
  // A new object at this address. A tombstone that stood there is forgotten: addresses come again.
  Object& add(const void* address, Kind kind, const void* made, std::set<const void*> used);

  // The living object at this address, or null.
  [[nodiscard]] Object* living(const void* address);

  // The object that was destroyed and stood at this address last, or null.
  [[nodiscard]] const Object* tombstone(const void* address) const;

  // The living objects that need this one, in the order in which they were made.
  [[nodiscard]] std::vector<const Object*> users(const void* address) const;

  // It is destroyed; a tombstone stays.
  void remove(const void* address, const void* where);

  // Everything that needs this one, and what needs that, is gone with it: a context was closed.
  void remove_users(const void* address, const void* where);

  // It was not destroyed after all: the verb refused.
  void restore(const void* address, Object object);

  // This process was forked: what lives is its parent's.
  void inherit();

  // Everything that lives and that this process has made, in the order in which it was made.
  [[nodiscard]] std::vector<const Object*> alive() const;

  // Grows whenever an object comes or goes.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

private:
  std::uint64_t changes_ = 1;
  std::map<const void*, Object> living_;
  std::map<const void*, Object> gone_;
  std::vector<const void*> gone_order_;  // oldest first: bounded, however long the program runs
  std::map<Kind, std::uint64_t> made_;
  std::uint64_t sequence_ = 0;
};

// Turns a return address into "main, a.cpp:12".
using Resolve = std::string (*)(const void* address);

// "MR #1 (made in main, a.cpp:12), QP 0x000011 (made in ...)"
[[nodiscard]] std::string describe(const std::vector<const Object*>& objects, Resolve resolve);
[[nodiscard]] std::string describe(const Object& object, Resolve resolve);

}  // namespace verbs_check
