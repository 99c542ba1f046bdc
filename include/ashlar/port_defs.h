// SPDX-License-Identifier: Apache-2.0
//
// Names that stand for properties of the machine.
#pragma once

namespace ashlar {

// How strongly the operating system favours a thread. A lower value yields to a higher one.
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

}  // namespace ashlar
