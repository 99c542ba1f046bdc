// SPDX-License-Identifier: Apache-2.0
//
// Which kind of memtable a factory selects. Pure functions.
#pragma once

#include <cstdint>

#include "ashlar/memtablerep.h"
#include "memtable/hash_rep.h"

namespace ashlar {

// kOfProgram: a class that the program has written; its factory creates the memtable
// representation.
enum class MemtableKind : uint8_t { kSkipList, kVector, kHash, kOfProgram };

// A null factory selects the default, kSkipList.
MemtableKind MemtableKindOf(const MemTableRepFactory* factory);
// The parameters of a factory of kind kHash, clamped to valid ranges.
HashRepShape HashShapeOf(const MemTableRepFactory& factory);

}  // namespace ashlar
