// SPDX-License-Identifier: Apache-2.0
//
// Reads what can be read of a damaged table. Each data block that the index names is read by
// itself, so that a damaged one hides no other. A damaged filter does not matter. Without its
// footer, its properties or its index, nothing of a table can be read.
//
// Threads: any number.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "table/range_del/range_tombstone.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct SalvageVisitor {
  // A point entry, in ascending order. An error ends the reading.
  std::function<Status(const Slice& internal_key, const Slice& value)> entry;
  // All range tombstones of the table, whose keys live as long as the call.
  std::function<Status(const std::vector<RangeTombstone>& tombstones)> tombstones;
  // A part that cannot be read: a data block, the rest of a block behind a malformed entry, a
  // partition of the index, the range tombstones.
  std::function<void(const Status& damage)> damage;
};

// `manifest_largest_seqno` is what the MANIFEST records for the table, or kMaxSequenceNumber.
// Corruption if nothing can be read; InvalidArgument if the comparator is another one.
Status ReadDamagedTable(FileSystem* fs, const FileOptions& options, const std::string& path,
                        const InternalKeyComparator& comparator,
                        SequenceNumber manifest_largest_seqno, const SalvageVisitor& visitor);

}  // namespace ashlar
