// SPDX-License-Identifier: Apache-2.0
//
// PinnedIterator shows the same entries as another iterator, and keeps each key, value, timestamp
// and column that it has shown until it is destroyed: ReadOptions::pin_data.
//
// It copies them into its own arena. Pinning blocks instead would not save the copies of
// keys, which many blocks store in parts, and would keep a whole block for one value. An entry that
// is shown twice is copied twice. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "ashlar/wide_columns.h"
#include "util/memory/arena.h"

namespace ashlar {

struct ReadOptions;

class PinnedIterator final : public Iterator {
 public:
  // The source leaves no value unread; see SourceOptions().
  explicit PinnedIterator(std::unique_ptr<Iterator> source);

  // The options of the source: each entry is copied at once, and only here.
  static ReadOptions SourceOptions(const ReadOptions& options);

  bool Valid() const override { return source_->Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return key_; }
  Slice value() const override { return value_; }
  Slice timestamp() const override { return timestamp_; }
  const WideColumns& columns() const override { return columns_; }
  Status status() const override { return source_->status(); }
  Status Refresh() override { return source_->Refresh(); }
  Status Refresh(const Snapshot* snapshot) override { return source_->Refresh(snapshot); }
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override { source_->Prepare(scan_opts); }

 private:
  // Copies the current entry; called after each move.
  void Keep();
  Slice Copy(const Slice& bytes);

  const std::unique_ptr<Iterator> source_;
  Arena memory_;  // all keys, values, timestamps and columns shown so far
  Slice key_;     // this and the next three point into memory_
  Slice value_;
  Slice timestamp_;  // empty if the family has none
  WideColumns columns_;
};

}  // namespace ashlar
