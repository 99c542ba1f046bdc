// SPDX-License-Identifier: Apache-2.0
//
// IndexCursor walks the data blocks of a table in order, through a flat index or through the
// partitions of a two-level one.
//
// A position is an entry of a leaf; a leaf is an index whose entries name data blocks. The cursor
// holds partitions, and a top level that the table does not keep, in the way that the caller's
// BlockRead says: borrowed or with references. Inside an epoch a missing one makes a move fail with
// NotInMemory(). Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>

#include "table/block/block_cursor.h"
#include "table/sst/read/block_store.h"

namespace ashlar {

class IndexCursor {
 public:
  // Where the index of a table is. All pointers outlive the cursor.
  struct Source {
    const BlockStore* store = nullptr;
    const IndexBlock* top = nullptr;    // null: the table does not keep it; `place` is set
    const IndexBlock* place = nullptr;  // the place of the top level; see BlockStore::PlaceOf()
    bool is_partitioned = false;        // the entries of the top level name partitions
  };
  explicit IndexCursor(const Source& source)
      : store_(source.store),
        top_(source.top),
        place_(source.place),
        is_partitioned_(source.is_partitioned) {
    assert(top_ != nullptr || place_ != nullptr);
  }

  // False before the first move, behind the last block, and after an error.
  bool Valid() const { return leaf_ != nullptr; }
  // The leaf and, below, the entry in it. Only if Valid().
  const IndexBlock& leaf() const { return *leaf_; }
  // The top level. Only if the table keeps it, or the cursor was Valid() once.
  const IndexBlock& top() const {
    assert(top_ != nullptr);
    return *top_;
  }
  size_t entry() const { return entry_; }
  // True if leaf() is kept alive by this cursor only, and not by the table.
  bool IsLeafHeldHere() const { return is_partitioned_ || held_top_; }
  // A reference on leaf(). Only if IsLeafHeldHere().
  ObjectRef<IndexBlock> HoldLeaf() const {
    IndexBlock* const leaf = is_partitioned_ ? partition_.get() : held_top_.get();
    assert(leaf != nullptr);
    assert(leaf_ == leaf);
    leaf->Ref();
    return ObjectRef<IndexBlock>::Own(leaf);
  }
  // The place of the current data block in the file.
  BlockHandle handle() const { return leaf_->index->handle(entry_); }
  // True if entries of `user_key` may also be in the next block; see FlatIndex.
  bool ContinuesBehind(const Slice& user_key) const {
    return leaf_->index->ContinuesBehind(entry_, user_key);
  }
  bool StampsContinueBehind(const Slice& stored) const {
    return leaf_->index->StampsContinueBehind(entry_, stored);
  }

  // Each of these moves to a block, or to no block: then Valid() is false. After an error Valid()
  // is false too.
  Status First(BlockRead* read);
  Status Last(BlockRead* read);
  // Moves to the first block that may hold entries at or after the target.
  Status Seek(const SeekTarget& target, BlockRead* read);
  Status Next(BlockRead* read);
  Status Prev(BlockRead* read);

 private:
  // Makes sure that top_ is set.
  Status EnterTop(BlockRead* read) { return top_ != nullptr ? Status::OK() : LoadTop(read); }
  Status LoadTop(BlockRead* read);
  Status EnterForward(size_t top_entry, BlockRead* read);
  Status EnterBackward(size_t top_entry, BlockRead* read);
  // Loads the partition of an entry of the top level, unless it is loaded.
  Status Enter(size_t top_entry, BlockRead* read);

  const BlockStore* store_;
  const IndexBlock* top_;    // null: not loaded yet
  const IndexBlock* place_;  // null: the table keeps the top level
  bool is_partitioned_;
  ObjectRef<IndexBlock> held_top_;  // the top level if the table does not keep it
  size_t top_entry_ = 0;            // of partition_
  ObjectRef<IndexBlock> partition_;
  const IndexBlock* leaf_ = nullptr;
  size_t entry_ = 0;
};

}  // namespace ashlar
