/// @file
/// The files of page/, built in.
#pragma once

#include <string_view>

namespace timeline::assets {

extern const std::string_view page;    ///< page.html
extern const std::string_view style;   ///< style.css
extern const std::string_view script;  ///< the scripts, one behind the other

}  // namespace timeline::assets
