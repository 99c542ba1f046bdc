// SPDX-License-Identifier: Apache-2.0
//
// ReadMissingBlocks reads data blocks, or partitions, of any tables at once: neighbours of one file
// in one read, the rest side by side as the file system allows. Each block is then verified, parsed
// and given to the cache, as if it had been read alone; where a read of several blocks fails, each
// is read alone, so that an error concerns the blocks it lies in and no others.
//
// Not inside an EpochGuard. Threads: pure but for the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ashlar/status.h"
#include "table/sst/read/block_store.h"
#include "table/sst/read/table_objects.h"

namespace ashlar {

struct MissingBlock {
  // Where it is: entry of an index. Both outlive the call; no two blocks have the same place.
  const BlockStore* store = nullptr;
  const IndexBlock* index = nullptr;
  size_t entry = 0;
  // A partition, of the index or the filter, goes to `held`, which is not null then, if all is well
  // with it.
  TableObjectKind kind = TableObjectKind::kData;
  HeldPartitions* held = nullptr;
  // The answer: the block with a reference, or why there is none.
  ObjectRef<DataBlock> block;
  Status status;

  BlockHandle handle() const { return index->index->handle(entry); }
};

// About what a device reads in the time of one more request, and what the kernel reads ahead.
inline constexpr uint64_t kMaxGapBytes = 4096;

// `how` says whether they go to the cache, and how long it may take. Blocks that are at most
// `max_gap_bytes` apart count as neighbours.
void ReadMissingBlocks(std::span<MissingBlock> blocks, const BlockRead& how,
                       uint64_t max_gap_bytes = kMaxGapBytes);

}  // namespace ashlar
