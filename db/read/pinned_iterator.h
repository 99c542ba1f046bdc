// SPDX-License-Identifier: Apache-2.0
//
// PinnedIterator shows what another iterator shows, and keeps each key and value that it has shown
// until it is destroyed: ReadOptions::pin_data.
//
// It copies them into memory of its own. Keys are put together from parts anyway where blocks store
// them so, and a block that is kept for one value of it costs more than that value. What is shown
// twice is kept twice. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "util/memory/arena.h"

namespace ashlar {

class PinnedIterator final : public Iterator {
 public:
  explicit PinnedIterator(std::unique_ptr<Iterator> source);

  bool Valid() const override { return source_->Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return key_; }
  Slice value() const override { return value_; }
  const WideColumns& columns() const override { return source_->columns(); }
  Status status() const override { return source_->status(); }
  Status Refresh() override { return source_->Refresh(); }
  Status Refresh(const Snapshot* snapshot) override { return source_->Refresh(snapshot); }
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override { source_->Prepare(scan_opts); }

 private:
  // After each move.
  void Keep();
  Slice Copy(const Slice& bytes);

  const std::unique_ptr<Iterator> source_;
  Arena memory_;  // of all that was shown
  Slice key_;     // both in memory_
  Slice value_;
};

}  // namespace ashlar
