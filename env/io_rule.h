// SPDX-License-Identifier: Apache-2.0
//
// Where a thread may do file I/O: anywhere but inside an EpochGuard, because one slow read would
// hold up the freeing of memory in the whole process (util/epoch.h). Builds with assertions stop at
// the first breach; the functions through which the engine reaches files call this.
#pragma once

#include <cassert>

#include "util/epoch.h"

namespace ashlar {

inline void AssertIoAllowed() { assert(!InEpoch() && "file I/O inside an EpochGuard"); }

}  // namespace ashlar
