// SPDX-License-Identifier: Apache-2.0
//
// PerfLevel: how much the PerfContext and the IOStatsContext of the calling thread measure.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// Each level includes everything that the levels before it measure.
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  kDisable = 1,
  kEnableCount = 2,  // counters only
  kEnableWait = 3,   // also time spent waiting for other threads
  kEnableTimeExceptForMutex = 4,
  kEnableTimeAndCPUTimeExceptForMutex = 5,
  kEnableTime = 6,  // also time spent waiting for mutexes
  kOutOfBounds = 7
};

// Set and return the level of the calling thread. A thread starts with kEnableCount.
ASHLAR_EXPORT void SetPerfLevel(PerfLevel level);
ASHLAR_EXPORT PerfLevel GetPerfLevel();

}  // namespace ashlar
