// SPDX-License-Identifier: Apache-2.0
//
// What a memtable checks of its own memory: checksums behind its entries, and the order of what a
// walk passes. Off as a rule; a memtable without checks pays nothing but a branch a read.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "memtable/entry.h"
#include "table/iterator/internal_iterator.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class Arena;

struct MemTableChecks {
  // Of the checksum behind each entry: 0 (none), 1, 2, 4 or 8. Verified whenever the entry is read.
  uint8_t checksum_bytes = 0;
  // That entries ascend: those that a walk passes, and the neighbours of what a search finds.
  bool order = false;
  // The checksum of the entry before what a search finds, too.
  bool neighbour_checksums = false;

  bool any() const { return checksum_bytes != 0 || order; }
  // Of searches.
  bool looks_around() const { return order || (neighbour_checksums && checksum_bytes != 0); }
};

// Corruption if the checksum behind the entry is not that of the entry.
Status CheckEntry(const Slice& internal_key, const Slice& value, size_t checksum_bytes);

// An iterator that makes these checks of what `entries`, which it owns, shows. It fails with
// Corruption at what is wrong. With an arena both live there.
InternalIterator* NewCheckedIterator(InternalIterator* entries, const MemTableChecks& checks,
                                     const InternalKeyComparator& comparator, Arena* arena);

}  // namespace ashlar
