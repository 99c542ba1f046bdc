// SPDX-License-Identifier: Apache-2.0
//
// Builds with -DASHLAR_INVARIANTS=ON check whole objects after every change and stop at the first
// broken one:
//
//   if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
//
// In other builds this costs nothing. Checks that fit in one line are asserts.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "ashlar/status.h"

namespace ashlar {

#if ASHLAR_INVARIANTS
inline constexpr bool kChecksInvariants = true;
#else
inline constexpr bool kChecksInvariants = false;
#endif

inline void StopUnless(const Status& invariants) {
  if (invariants.ok()) return;
  std::fprintf(stderr, "ashlar: broken invariant: %s\n", invariants.ToString().c_str());
  std::abort();
}

}  // namespace ashlar
