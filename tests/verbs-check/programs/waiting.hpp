// What the programs that wait in vain begin with. They run with --patience 0.5: the checker speaks before they give up.
#pragma once

#include "loop.hpp"

#include "common/deadline.hpp"

#ifdef CORRECTED
constexpr std::chrono::milliseconds patience{5000};
#else
constexpr std::chrono::milliseconds patience{1500};
#endif
