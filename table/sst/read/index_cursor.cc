// SPDX-License-Identifier: Apache-2.0
//
// A partition without entries occurs only in damaged files; moves skip it.
#include "table/sst/read/index_cursor.h"

#include <cassert>
#include <utility>

namespace ashlar {

Status IndexCursor::LoadTop(BlockRead* read) {
  assert(top_ == nullptr);
  assert(place_ != nullptr);
  ASSIGN_OR_RETURN(held_top_, store_->IndexPartition(*place_, 0, read));
  if (!held_top_) return NotInMemory();
  top_ = held_top_.get();
  return Status::OK();
}

Status IndexCursor::First(BlockRead* read) {
  leaf_ = nullptr;
  RETURN_IF_ERROR(EnterTop(read));
  if (is_partitioned_) return EnterForward(0, read);
  entry_ = 0;
  leaf_ = top_->index->empty() ? nullptr : top_;
  return Status::OK();
}

Status IndexCursor::Last(BlockRead* read) {
  leaf_ = nullptr;
  RETURN_IF_ERROR(EnterTop(read));
  if (top_->index->empty()) return Status::OK();
  if (is_partitioned_) return EnterBackward(top_->index->size() - 1, read);
  entry_ = top_->index->size() - 1;
  leaf_ = top_;
  return Status::OK();
}

// The target may lie behind the last key of its partition; then the first block of the next one is
// the result.
Status IndexCursor::Seek(const SeekTarget& target, BlockRead* read) {
  leaf_ = nullptr;
  RETURN_IF_ERROR(EnterTop(read));
  const size_t found = top_->index->Find(target.user_key, target.trailer);
  if (found == top_->index->size()) return Status::OK();
  if (!is_partitioned_) {
    entry_ = found;
    leaf_ = top_;
    return Status::OK();
  }
  RETURN_IF_ERROR(Enter(found, read));
  entry_ = partition_->index->Find(target.user_key, target.trailer);
  if (entry_ == partition_->index->size()) return EnterForward(found + 1, read);
  leaf_ = partition_.get();
  return Status::OK();
}

Status IndexCursor::Next(BlockRead* read) {
  assert(Valid());
  if (++entry_ < leaf_->index->size()) return Status::OK();
  leaf_ = nullptr;
  return is_partitioned_ ? EnterForward(top_entry_ + 1, read) : Status::OK();
}

Status IndexCursor::Prev(BlockRead* read) {
  assert(Valid());
  if (entry_ > 0) {
    --entry_;
    return Status::OK();
  }
  leaf_ = nullptr;
  if (!is_partitioned_ || top_entry_ == 0) return Status::OK();
  return EnterBackward(top_entry_ - 1, read);
}

// Moves to the first entry of this partition or a later one.
Status IndexCursor::EnterForward(size_t top_entry, BlockRead* read) {
  assert(is_partitioned_);
  assert(leaf_ == nullptr);
  for (; top_entry < top_->index->size(); ++top_entry) {
    RETURN_IF_ERROR(Enter(top_entry, read));
    if (partition_->index->empty()) continue;
    entry_ = 0;
    leaf_ = partition_.get();
    break;
  }
  return Status::OK();
}

// Moves to the last entry of this partition or an earlier one.
Status IndexCursor::EnterBackward(size_t top_entry, BlockRead* read) {
  assert(is_partitioned_);
  assert(leaf_ == nullptr);
  assert(top_entry < top_->index->size());
  while (true) {
    RETURN_IF_ERROR(Enter(top_entry, read));
    if (!partition_->index->empty()) {
      entry_ = partition_->index->size() - 1;
      leaf_ = partition_.get();
      return Status::OK();
    }
    if (top_entry-- == 0) return Status::OK();
  }
}

Status IndexCursor::Enter(size_t top_entry, BlockRead* read) {
  assert(is_partitioned_);
  assert(top_entry < top_->index->size());
  if (partition_ && top_entry_ == top_entry) return Status::OK();
  ASSIGN_OR_RETURN(ObjectRef<IndexBlock> partition, store_->IndexPartition(*top_, top_entry, read));
  if (!partition) return NotInMemory();
  partition_ = std::move(partition);
  top_entry_ = top_entry;
  return Status::OK();
}

}  // namespace ashlar
