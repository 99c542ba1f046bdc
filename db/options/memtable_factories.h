// SPDX-License-Identifier: Apache-2.0
//
// Which memtable a factory stands for. Pure functions.
#pragma once

#include <cstdint>

#include "ashlar/memtablerep.h"

namespace ashlar {

enum class MemtableKind : uint8_t { kSkipList, kVector, kUnsupported };

// nullptr stands for the default.
MemtableKind MemtableKindOf(const MemTableRepFactory* factory);

}  // namespace ashlar
