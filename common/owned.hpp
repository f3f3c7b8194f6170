/// @file
/// @brief Ownership of a verbs object: a std::unique_ptr whose deleter is the destroy verb.
///
///     Owned<ibv_pd, ibv_dealloc_pd> pd{check(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
///
/// Create verb and destroy verb stand side by side, and since C++ destroys local objects in the reverse order of their
/// declaration, the order in which a function makes its objects, reversed, is a right order of teardown.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

namespace lab {

/// Says on standard error that a destroy verb failed, and counts it. A destructor cannot throw, and a failed destroy
/// must not pass unseen: run() turns a count above 0 into exit status 1.
/// @param verb   the destroy verb that failed
/// @param result what the verb returned: an errno value, or -1 with the reason in errno (ibv_close_device(3))
void report_failed_destroy(std::string_view verb, int result) noexcept;

/// How many destroy verbs have failed.
/// @return their number, in this process so far
[[nodiscard]] int failed_destroys() noexcept;

/// The name of a function: `verb_name<ibv_dealloc_pd>()` is "ibv_dealloc_pd".
/// @tparam Verb the function
/// @return its name; valid for ever
template <auto Verb>
constexpr std::string_view verb_name() {
  // Read from the compiler's own description of this instance: "... [with auto Verb = ibv_dealloc_pd; ..." (GCC),
  // "... [Verb = &ibv_dealloc_pd]" (Clang).
  std::string_view text{__PRETTY_FUNCTION__};
  text.remove_prefix(text.find("Verb = ") + 7);
  if (text.front() == '&') {
    text.remove_prefix(1);
  }
  return text.substr(0, text.find_first_of(";]"));
}

/// Deleter that calls the destroy verb and reports its failure.
/// @tparam Destroy the verb: it returns nothing, or 0 for success
template <auto Destroy>
struct Destroyer {
  /// Destroys the object. A failure is reported, not thrown: see report_failed_destroy().
  /// @tparam T     what the verb destroys
  /// @param object the object; not null
  template <class T>
  void operator()(T* object) const noexcept {
    if constexpr (std::is_void_v<decltype(Destroy(object))>) {
      Destroy(object);
    } else if (const int result = Destroy(object); result != 0) {
      report_failed_destroy(verb_name<Destroy>(), result);
    }
  }
};

/// Owns one verbs object and destroys it with `Destroy`.
/// @tparam T       the object, for instance ibv_pd
/// @tparam Destroy its destroy verb, for instance ibv_dealloc_pd
template <class T, auto Destroy>
using Owned = std::unique_ptr<T, Destroyer<Destroy>>;

}  // namespace lab
