// SPDX-License-Identifier: Apache-2.0
//
// Which memtable a factory stands for. Pure functions.
#pragma once

#include <cstdint>

#include "ashlar/memtablerep.h"
#include "memtable/hash_rep.h"

namespace ashlar {

enum class MemtableKind : uint8_t { kSkipList, kVector, kHash, kOfProgram };

// nullptr stands for the default.
MemtableKind MemtableKindOf(const MemTableRepFactory* factory);
// Of a kHash.
HashRepShape HashShapeOf(const MemTableRepFactory& factory);

}  // namespace ashlar
