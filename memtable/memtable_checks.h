// SPDX-License-Identifier: Apache-2.0
//
// The checks of a memtable's own memory: checksums behind its entries, and the order of entries.
// Usually off; a memtable without checks pays only a branch per read.
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
  // Bytes of the checksum behind each entry: 0 (none), 1, 2, 4 or 8. Verified whenever the entry is
  // read.
  uint8_t checksum_bytes = 0;
  // Check that entries ascend: those that an iterator passes, and the neighbours of a search
  // result.
  bool order = false;
  // A search also verifies the checksum of the entry before its result.
  bool neighbour_checksums = false;

  bool any() const { return checksum_bytes != 0 || order; }
  // True if searches must check neighbours.
  bool looks_around() const { return order || (neighbour_checksums && checksum_bytes != 0); }
};

// Corruption if the checksum behind the entry does not match the entry.
Status CheckEntry(const Slice& internal_key, const Slice& value, size_t checksum_bytes);

// An iterator that makes these checks on the entries of `entries`, which it owns. It fails with
// Corruption at the first violation. With an arena both objects live there.
InternalIterator* NewCheckedIterator(InternalIterator* entries, const MemTableChecks& checks,
                                     const InternalKeyComparator& comparator, Arena* arena);

}  // namespace ashlar
