// SPDX-License-Identifier: Apache-2.0
//
// BatchRun shows the updates of one family of an indexed batch as a sorted run of internal keys, so
// that an iterator of the database merges them like the entries of a memtable. The sequence number
// of an update is its offset in the batch plus NewestRun::kFirstSeqno, above all numbers of a
// database. Threads: one at a time.
#pragma once

#include <string>

#include "db/transaction/indexed_batch/update_cursor.h"
#include "table/iterator/internal_iterator.h"

namespace ashlar {

class BatchRun final : public InternalIterator {
 public:
  BatchRun(IndexedBatch* batch, uint32_t family) : cursor_(batch, family) {}

  Status status() const override { return cursor_.status(); }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;

 protected:
  void NextSlow() override;
  void PrevSlow() override;

 private:
  // Shows the update on which the cursor stands.
  void Expose();

  UpdateCursor cursor_;
  std::string internal_key_;  // of the current update
};

}  // namespace ashlar
