// SPDX-License-Identifier: Apache-2.0
//
// The switch of planted bugs (tests/planted/README.md): $ASHLAR_PLANTED is the number of the active
// bug. Only the copy of the tree that planted.py builds includes this header.
#pragma once

#include <cstdlib>

namespace ashlar {

inline const int planted_bug = [] {
  const char* const number = std::getenv("ASHLAR_PLANTED");
  return number == nullptr ? 0 : std::atoi(number);
}();

inline bool Planted(int number) { return planted_bug == number; }

}  // namespace ashlar
