// SPDX-License-Identifier: Apache-2.0
//
// Names for properties of the machine.
#pragma once

namespace ashlar {

// Scheduling priority of a thread, from the lowest to the highest.
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

}  // namespace ashlar
