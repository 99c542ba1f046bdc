// SPDX-License-Identifier: Apache-2.0
//
// PerfLevel: how much the calling thread's PerfContext and IOStatsContext measure.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// Each level includes what the ones above it measure.
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  kDisable = 1,
  kEnableCount = 2,  // counters only
  kEnableWait = 3,   // and time spent waiting for other threads
  kEnableTimeExceptForMutex = 4,
  kEnableTimeAndCPUTimeExceptForMutex = 5,
  kEnableTime = 6,  // and mutex wait time
  kOutOfBounds = 7
};

// Both concern the calling thread only. A thread starts with kEnableCount.
ASHLAR_EXPORT void SetPerfLevel(PerfLevel level);
ASHLAR_EXPORT PerfLevel GetPerfLevel();

}  // namespace ashlar
