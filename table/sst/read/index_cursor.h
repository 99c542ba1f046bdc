// SPDX-License-Identifier: Apache-2.0
//
// IndexCursor walks the data blocks of a table in order, through a flat index or through the
// partitions of a two-level one.
//
// A position is an entry of a leaf: an index whose entries name data blocks. Partitions, and a top
// level that its table does not hold, are held as the caller's BlockRead says; inside an epoch a
// missing one makes the move fail with NotInMemory(). Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>

#include "table/block/block_cursor.h"
#include "table/sst/read/block_store.h"

namespace ashlar {

class IndexCursor {
 public:
  // Where the index of a table is. Everything outlives the cursor.
  struct Source {
    const BlockStore* store = nullptr;
    const IndexBlock* top = nullptr;    // null: it is to be asked for, at
    const IndexBlock* place = nullptr;  // of the top level; see BlockStore::PlaceOf()
    bool is_partitioned = false;        // the entries of the top level name partitions
  };
  explicit IndexCursor(const Source& source)
      : store_(source.store),
        top_(source.top),
        place_(source.place),
        is_partitioned_(source.is_partitioned) {
    assert(top_ != nullptr || place_ != nullptr);
  }

  bool Valid() const { return leaf_ != nullptr; }
  const IndexBlock& leaf() const { return *leaf_; }
  // The top level. Valid() once, or the table holds it.
  const IndexBlock& top() const {
    assert(top_ != nullptr);
    return *top_;
  }
  size_t entry() const { return entry_; }
  // Whether leaf() is only kept by this cursor, and not by the table.
  bool IsLeafHeldHere() const { return is_partitioned_ || held_top_; }
  // A reference on leaf() then.
  ObjectRef<IndexBlock> HoldLeaf() const {
    IndexBlock* const leaf = is_partitioned_ ? partition_.get() : held_top_.get();
    assert(leaf != nullptr && leaf_ == leaf);
    leaf->Ref();
    return ObjectRef<IndexBlock>::Own(leaf);
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
  Status EnterTop(BlockRead* read) { return top_ != nullptr ? Status::OK() : LoadTop(read); }
  Status LoadTop(BlockRead* read);
  Status EnterForward(size_t top_entry, BlockRead* read);
  Status EnterBackward(size_t top_entry, BlockRead* read);
  Status Enter(size_t top_entry, BlockRead* read);

  const BlockStore* store_;
  const IndexBlock* top_;    // null: not asked for yet
  const IndexBlock* place_;  // null: the table holds the top level
  bool is_partitioned_;
  ObjectRef<IndexBlock> held_top_;  // if it had to be asked for
  size_t top_entry_ = 0;            // of the partition
  ObjectRef<IndexBlock> partition_;
  const IndexBlock* leaf_ = nullptr;
  size_t entry_ = 0;
};

}  // namespace ashlar
