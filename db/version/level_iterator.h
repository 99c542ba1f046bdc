// SPDX-License-Identifier: Apache-2.0
//
// LevelIterator walks the files of one level below 0 in order, opening each when it is reached.
#pragma once

#include <span>

#include "ashlar/options.h"
#include "db/version/file_metadata.h"
#include "table/iterator/internal_iterator.h"
#include "util/internal_key.h"

namespace ashlar {

class TableCache;

struct LevelIteratorOptions {
  const ReadOptions* read = nullptr;  // bounds and snapshots must outlive the iterator
  const InternalKeyComparator* comparator = nullptr;
  TableCache* tables = nullptr;
  bool for_compaction = false;
};

// The files must ascend and be disjoint. They and their list outlive the iterator.
class LevelIterator final : public InternalIterator {
 public:
  LevelIterator(const LevelIteratorOptions& options, std::span<TableFile* const> files);
  ~LevelIterator() override;

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;

 private:
  void NextSlow() override;
  void PrevSlow() override;

  void OpenFile(size_t index);
  void Mirror();
  void SkipForward();
  void SkipBackward();
  bool BeyondUpperBound(size_t index) const;

  const LevelIteratorOptions options_;
  const std::span<TableFile* const> files_;
  size_t index_;  // of the file `inner_` is over; files_.size() when there is none
  InternalIterator* inner_ = nullptr;
};

}  // namespace ashlar
