// SPDX-License-Identifier: Apache-2.0
//
// IndexCursor walks the data blocks of a table in order, through a flat index or through the
// partitions of a two-level one.
//
// A position is an entry of a leaf: an index whose entries name data blocks. Partitions are held as
// the caller's BlockRead says; inside an epoch a missing one makes the move fail with
// NotInMemory(). Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>

#include "table/block/block_cursor.h"
#include "table/sst/block_store.h"

namespace ashlar {

class IndexCursor {
 public:
  // Everything outlives the cursor. `is_partitioned`: the entries of `top` name partitions.
  IndexCursor(const BlockStore* store, const IndexBlock* top, bool is_partitioned)
      : store_(store), top_(top), is_partitioned_(is_partitioned) {}

  bool Valid() const { return leaf_ != nullptr; }
  const IndexBlock& leaf() const { return *leaf_; }
  size_t entry() const { return entry_; }
  // A reference on the partition that leaf() is, of a table with partitions.
  ObjectRef<IndexBlock> HoldPartition() const {
    assert(partition_ && leaf_ == partition_.get());
    partition_->Ref();
    return ObjectRef<IndexBlock>::Own(partition_.get());
  }
  BlockHandle handle() const { return leaf_->index->handle(entry_); }
  // Whether entries of `user_key` may go on in the next block; see FlatIndex.
  bool ContinuesBehind(const Slice& user_key) const {
    return leaf_->index->ContinuesBehind(entry_, user_key);
  }

  // Each moves to a block, or nowhere: then Valid() is false. An error also leaves it nowhere.
  Status First(BlockRead* read);
  Status Last(BlockRead* read);
  // The first block that may hold entries at or after the target.
  Status Seek(const SeekTarget& target, BlockRead* read);
  Status Next(BlockRead* read);
  Status Prev(BlockRead* read);

 private:
  Status EnterForward(size_t top_entry, BlockRead* read);
  Status EnterBackward(size_t top_entry, BlockRead* read);
  Status Enter(size_t top_entry, BlockRead* read);

  const BlockStore* store_;
  const IndexBlock* top_;
  bool is_partitioned_;
  size_t top_entry_ = 0;  // of the partition
  ObjectRef<IndexBlock> partition_;
  const IndexBlock* leaf_ = nullptr;
  size_t entry_ = 0;
};

}  // namespace ashlar
