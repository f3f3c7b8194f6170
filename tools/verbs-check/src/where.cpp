#include "where.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

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

// Headers whose inline functions are calls of the API, not code of the program.
bool is_api_header(std::string_view file) { return file == "verbs.h" || file == "rdma_verbs.h"; }

std::string line_text(const char* file, int line) { return std::string{base_name(file)} + ":" + std::to_string(line); }

// Where the function that was inlined at `pc` was called, as the first caller outward that is not in an API header.
// Empty when the debug information does not say.
std::string call_of_inlined(Dwfl_Module* module, Dwarf_Addr pc) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, pc, &bias);
  Dwarf_Die* found = nullptr;
  const int count = unit == nullptr ? 0 : dwarf_getscopes(unit, pc - bias, &found);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> scopes{found, &std::free};
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  if (count <= 0 || dwarf_getsrcfiles(unit, &files, &file_count) != 0) {
    return {};
  }
  for (int i = 0; i < count; ++i) {  // the innermost first
    Dwarf_Die* const scope = scopes.get() + i;
    Dwarf_Attribute attribute{};
    Dwarf_Word line = 0;
    Dwarf_Word file = 0;
    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0) {
      continue;
    }
    const char* const path = dwarf_filesrc(files, file, nullptr, nullptr);
    if (path != nullptr && !is_api_header(base_name(path))) {
      return line_text(path, static_cast<int>(line));
    }
  }
  return {};
}

std::string in_hex(std::uintptr_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(number));
  return text.data();
}

}  // namespace

const void* caller(const void* direct) {
  return is_verbs_library(direct) ? innermost([](const void* frame) { return !is_verbs_library(frame); }, direct)
                                  : direct;
}

const void* caller_in_program() {
  return innermost(
      [](const void* frame) {
        const std::string_view name = object_of(frame);
        return !is_verbs_library(frame) && !name.starts_with("libc.") && !name.starts_with("libstdc++.");
      },
      nullptr);
}

std::string resolve(const void* address) {
  // The call, not the instruction after it.
  const auto pc = reinterpret_cast<std::uintptr_t>(address) - 1;
  static constexpr Dwfl_Callbacks callbacks{.find_elf = dwfl_linux_proc_find_elf,
                                            .find_debuginfo = dwfl_standard_find_debuginfo,
                                            .section_address = nullptr,
                                            .debuginfo_path = nullptr};
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl{dwfl_begin(&callbacks), &dwfl_end};
  std::string function = "?";
  std::string place;
  if (dwfl && dwfl_linux_proc_report(dwfl.get(), getpid()) == 0 && dwfl_report_end(dwfl.get(), nullptr, nullptr) == 0) {
    if (Dwfl_Module* const module = dwfl_addrmodule(dwfl.get(), pc); module != nullptr) {
      if (const char* const name = dwfl_module_addrname(module, pc); name != nullptr) {
        function = demangled(name);
      }
      if (Dwfl_Line* const line = dwfl_module_getsrc(module, pc); line != nullptr) {
        int number = 0;
        const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
        if (file != nullptr) {
          place = is_api_header(base_name(file)) ? call_of_inlined(module, pc) : line_text(file, number);
        }
      }
    }
  }
  if (place.empty()) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(pc), &info) != 0 && info.dli_fname != nullptr) {
      place = std::string{object_of(address)} + "+" + in_hex(pc - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    } else {
      place = in_hex(pc);
    }
  }
  return function + ", " + place;
}

}  // namespace verbs_check
