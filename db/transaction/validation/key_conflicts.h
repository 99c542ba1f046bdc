// SPDX-License-Identifier: Apache-2.0
//
// Whether somebody wrote a key after a moment: what makes a conflict. Numbers that are not visible
// yet count, range tombstones over the key as well.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

class DBImpl;

// NotSupported for a family with inplace_update_support: a value that is overwritten in its place
// keeps its sequence number, so that a check cannot see the write.
Status CheckFamilies(const std::vector<ColumnFamilyDescriptor>& families);

// Busy if the key has a version that the live snapshot `since` does not see: one with a greater
// number, or one that was written before and is not decided, or was decided later. The message
// names the family and the key. InvalidArgument for a family that is gone. May read files. `own`:
// what the transaction that asks has written itself, which is no conflict; null: nothing.
Status CheckUnchanged(DBImpl* db, uint32_t family, const Slice& key, SequenceNumber since,
                      const DecidedVersions::Own* own = nullptr);

// What CheckUnchanged() says of a key that was written.
Status ConflictOn(const DBImpl& db, uint32_t family, const Slice& key, SequenceNumber since,
                  SequenceNumber found);

}  // namespace ashlar
