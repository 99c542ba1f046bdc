// SPDX-License-Identifier: Apache-2.0
//
// The range deletion block of a table: docs/formats/block_based_table.md, section 10.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "table/range_del/range_tombstone.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

// The tombstones of a block in its order, which is not always sorted, and the memory of their keys.
// They do not need the block any more.
struct StoredTombstones {
  std::vector<RangeTombstone> tombstones;
  std::shared_ptr<const void> memory;
  size_t memory_bytes = 0;
};

// Parses a block. `contents` are verified bytes without the trailer. A `global_seqno` other than
// kNoGlobalSeqno replaces the stored sequence numbers. Corruption, without the file name, if the
// bytes are not such a block.
Result<StoredTombstones> ParseRangeDelBlock(const Slice& contents, SequenceNumber global_seqno);

}  // namespace ashlar
