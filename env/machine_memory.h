// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ashlar {

// The bytes of memory that this process can use: those of the machine, or of its control group if
// that is limited to less. 0 if the system does not tell.
uint64_t MachineMemoryBytes();

}  // namespace ashlar
