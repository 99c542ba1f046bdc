// SPDX-License-Identifier: Apache-2.0
//
// ReadMissingBlocks reads data blocks or partitions of any number of tables together: neighbouring
// blocks of one file with one read, all other reads in parallel as far as the file system can. Each
// block is then verified, parsed and given to the cache, just as if it had been read alone. If a
// read of several blocks fails, each of them is read alone, so an error affects only the blocks
// that it concerns.
//
// Not inside an EpochGuard. Threads: any number; only the caches are shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ashlar/status.h"
#include "table/sst/read/block_store.h"
#include "table/sst/read/table_objects.h"

namespace ashlar {

// One block that a batch of reads needs, and the result for it.
struct MissingBlock {
  // The place of the block: entry `entry` of `index`. Both pointers are borrowed until the call
  // returns. No two blocks of a call have the same place.
  const BlockStore* store = nullptr;
  const IndexBlock* index = nullptr;
  size_t entry = 0;
  // The kind of the block. A partition of an index or a filter is added to `held`, which must not
  // be null then, if it could be read and parsed.
  TableObjectKind kind = TableObjectKind::kData;
  HeldPartitions* held = nullptr;
  // The result: the block with an owned reference, or the reason why there is none.
  ObjectRef<DataBlock> block;
  Status status;

  BlockHandle handle() const { return index->index->handle(entry); }
};

// A device reads about this many bytes in the time that one more request takes, and the kernel
// reads this much ahead.
inline constexpr uint64_t kMaxGapBytes = 4096;

// Reads all `blocks` and sets their results. `how` says whether they go to the cache, and gives the
// deadline. Blocks of one file that are at most `max_gap_bytes` apart are read with one read.
void ReadMissingBlocks(std::span<MissingBlock> blocks, const BlockRead& how,
                       uint64_t max_gap_bytes = kMaxGapBytes);

}  // namespace ashlar
