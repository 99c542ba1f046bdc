// SPDX-License-Identifier: Apache-2.0
//
// OverlayIterator is an iterator of our own database with an indexed batch on top. The batch is one
// more sorted run in the merge of the database iterator, so a step costs the same as there.
// OverlayIterator adds the promises of an iterator over a batch: later writes to the batch become
// visible, and misuse gives a status. Threads: one at a time.
#pragma once

#include <memory>

#include "ashlar/iterator.h"
#include "db/read/db_iterator.h"
#include "db/read/newest_run.h"
#include "db/transaction/indexed_batch/indexed_batch.h"

namespace ashlar {

class OverlayIterator final : public Iterator, private NewestRun {
 public:
  OverlayIterator(IndexedBatch* batch, uint32_t family, std::unique_ptr<DBIterator> base);

  bool Valid() const override { return base_->Valid() && !is_cut_off(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return base_->key(); }
  Slice value() const override { return base_->value(); }
  const WideColumns& columns() const override { return base_->columns(); }
  Slice timestamp() const override { return base_->timestamp(); }
  bool PrepareValue() override { return base_->PrepareValue(); }
  Status status() const override;
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override { base_->Prepare(scan_opts); }

 private:
  InternalIterator* NewRun(Arena* arena) override;

  bool is_cut_off() const { return batch_->cuts() != cuts_; }
  // Returns false if the iterator is cut off.
  bool BeginSeek();
  // Returns false if the iterator is not valid, so there is no position to step from.
  bool BeginStep(const char* step);

  const IndexedBatch::Reader reader_;
  IndexedBatch* const batch_;
  const uint32_t family_;
  const uint64_t cuts_;  // batch_->cuts() when the iterator was created
  size_t seen_end_;      // batch_->end() at the last move
  Status misuse_;        // of a step since the last seek
  const std::unique_ptr<DBIterator> base_;
};

}  // namespace ashlar
