#include "where.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace verbs_check {

namespace {

// The file that an address belongs to, without its folder.
std::string_view object_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string_view path{info.dli_fname};
  return path.substr(path.rfind('/') + 1);
}

bool is_verbs_library(const void* address) {
  const std::string_view name = object_of(address);
  return name.starts_with("librdmacm.") || name.starts_with("libibverbs.") || name.starts_with("libverbs-check");
}

bool is_system_library(const void* address) {
  const std::string_view name = object_of(address);
  return name.starts_with("libc.") || name.starts_with("libstdc++.");
}

// The innermost frame for which this holds, or `otherwise`.
template <class Holds>
const void* innermost(Holds holds, const void* otherwise) {
  std::array<void*, 32> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    const void* const frame = frames.at(static_cast<std::size_t>(i));
    if (holds(frame)) {
      return frame;
    }
  }
  return otherwise;
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free};
  std::string name = status == 0 ? text.get() : symbol;
  // Arguments and anonymous namespaces make it long and say little.
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (auto found = name.find(anonymous); found != std::string::npos; found = name.find(anonymous)) {
    name.erase(found, anonymous.size());
  }
  return name.substr(0, name.find('('));
}

const char* base_name(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

std::string line_text(const char* file, int line) { return std::string{base_name(file)} + ":" + std::to_string(line); }

// Headers that are not the program's: those of the system, and those of the API wherever they lie.
bool is_foreign(const char* path) {
  const std::string_view file{path};
  const std::string_view name{base_name(path)};
  return file.starts_with("/usr/") || name == "verbs.h" || name == "rdma_verbs.h";
}

// A destructor, or the operator() of a deleter: one line that destroys for everybody. The operator() of a lambda is
// code like any other.
bool is_owner(Dwarf_Die* function) {
  const char* const name = dwarf_diename(function);
  if (name == nullptr) {
    return false;
  }
  if (*name == '~') {
    return true;
  }
  Dwarf_Attribute attribute{};
  const char* const linkage = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
  return std::string_view{name}.starts_with("operator()") && linkage != nullptr &&
         demangled(linkage).find("{lambda") == std::string::npos;
}

// The place of one return address. Of the functions that were inlined there the innermost one is chosen that neither
// lies in a foreign header nor is an owner.
struct Place {
  std::string function = "?";
  std::string innermost;  // "a.cpp:12", or "program+0x1234" when the debug information does not say
  std::string chosen;     // "a.cpp:12"; empty when there is none that is not to be skipped
  bool is_known = false;  // the debug information says
};

// The scopes around an address as they were compiled, the innermost first. dwarf_getscopes() alone goes over from what
// was inlined to where that is defined, and not to where it was called.
class Scopes {
public:
  Scopes(Dwarf_Die* unit, Dwarf_Addr pc) {
    Dwarf_Die* innermost = nullptr;
    if (dwarf_getscopes(unit, pc, &innermost) > 0) {
      count_ = std::max(dwarf_getscopes_die(innermost, &scopes_), 0);
    }
    std::free(innermost);
  }
  ~Scopes() { std::free(scopes_); }
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Dwarf_Die* begin() const { return scopes_; }
  [[nodiscard]] Dwarf_Die* end() const { return scopes_ + count_; }

private:
  Dwarf_Die* scopes_ = nullptr;
  int count_ = 0;
};

void look_at_lines(Dwfl_Module* module, Dwarf_Addr pc, Place& place) {
  Dwfl_Line* const line = dwfl_module_getsrc(module, pc);
  int number = 0;
  const char* path = line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, pc, &bias);
  if (path == nullptr || unit == nullptr) {
    return;
  }
  place.innermost = line_text(path, number);
  const Scopes scopes{unit, pc - bias};
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  if (scopes.empty() || dwarf_getsrcfiles(unit, &files, &file_count) != 0) {
    place.chosen = place.innermost;
    return;
  }
  for (Dwarf_Die* scope = scopes.begin(); scope != scopes.end() && path != nullptr; ++scope) {
    const int tag = dwarf_tag(scope);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
      continue;
    }
    if (!is_foreign(path) && !is_owner(scope)) {
      place.chosen = line_text(path, number);
      return;
    }
    // The next one outward is where this one was called.
    Dwarf_Attribute attribute{};
    Dwarf_Word value = 0;
    Dwarf_Word file = 0;
    if (tag == DW_TAG_subprogram || dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &value) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0) {
      return;
    }
    number = static_cast<int>(value);
    path = dwarf_filesrc(files, file, nullptr, nullptr);
  }
}

std::string in_hex(std::uintptr_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(number));
  return text.data();
}

Place looked_up(const void* address) {
  // The call, not the instruction after it.
  const auto pc = reinterpret_cast<std::uintptr_t>(address) - 1;
  static constexpr Dwfl_Callbacks callbacks{.find_elf = dwfl_linux_proc_find_elf,
                                            .find_debuginfo = dwfl_standard_find_debuginfo,
                                            .section_address = nullptr,
                                            .debuginfo_path = nullptr};
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl{dwfl_begin(&callbacks), &dwfl_end};
  Place place;
  if (dwfl && dwfl_linux_proc_report(dwfl.get(), getpid()) == 0 && dwfl_report_end(dwfl.get(), nullptr, nullptr) == 0) {
    if (Dwfl_Module* const module = dwfl_addrmodule(dwfl.get(), pc); module != nullptr) {
      if (const char* const name = dwfl_module_addrname(module, pc); name != nullptr) {
        place.function = demangled(name);
      }
      look_at_lines(module, pc, place);
    }
  }
  place.is_known = !place.innermost.empty();
  if (!place.is_known) {
    place.innermost = unresolved(address);
  }
  return place;
}

// The same, remembered: the same few places come again and again. What lay at an address may have been unloaded since,
// and something else lie there.
const Place& look_at(const void* address) {
  static auto& places = *new std::unordered_map<const void*, std::pair<std::string, Place>>;
  const std::string_view object = object_of(address);
  const auto [found, is_new] = places.try_emplace(address);
  if (is_new || (found->second.first != object && !object.empty())) {
    found->second = {std::string{object}, looked_up(address)};
  }
  return found->second.second;
}

}  // namespace

static bool is_left_unresolved = false;

void leave_unresolved() { is_left_unresolved = true; }

const void* caller(const void* direct) {
  return is_verbs_library(direct) ? innermost([](const void* frame) { return !is_verbs_library(frame); }, direct)
                                  : direct;
}

const void* caller_in_program() {
  return innermost([](const void* frame) { return !is_verbs_library(frame) && !is_system_library(frame); }, nullptr);
}

std::string unresolved(const void* address) {
  const auto pc = reinterpret_cast<std::uintptr_t>(address) - 1;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(pc), &info) == 0 || info.dli_fname == nullptr) {
    return in_hex(pc);
  }
  return std::string{object_of(address)} + "+" + in_hex(pc - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

std::string resolve(const void* address) {
  if (is_left_unresolved) {
    return unresolved(address);
  }
  const Place& place = look_at(address);
  return place.function + ", " + (!place.chosen.empty() ? place.chosen : place.innermost);
}

std::string resolve_call(const void* where) {
  if (is_left_unresolved) {
    return unresolved(where);
  }
  std::array<void*, 32> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  for (auto frame = std::find(frames.begin(), end, where); frame != end; ++frame) {
    if (is_system_library(*frame)) {
      continue;
    }
    const Place& place = look_at(*frame);
    if (!place.chosen.empty()) {
      return place.function + ", " + place.chosen;
    }
    if (!place.is_known) {  // nothing is known of what is beyond it either
      break;
    }
  }
  return resolve(where);
}

}  // namespace verbs_check
