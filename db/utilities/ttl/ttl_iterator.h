// SPDX-License-Identifier: Apache-2.0
//
// Shows the entries of another iterator without their times. A value that has no valid time ends
// the iteration with Corruption. Expired values are passed over if a TTL is given.
//
// With ReadOptions::allow_unprepared_value the value is looked at by PrepareValue(); an iterator
// that hides expired values needs them at once, so its source must not leave values unread.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "db/utilities/ttl/write_time.h"

namespace ashlar {

class TtlIterator final : public Iterator {
 public:
  // `leaves_values_unread`: the source does. `hidden_after`: null shows expired values; then the
  // others are not used. `now` is in seconds since 1970, until Refresh() reads the clock again.
  TtlIterator(std::unique_ptr<Iterator> source, bool leaves_values_unread,
              std::shared_ptr<const TtlSetting> hidden_after, std::shared_ptr<SystemClock> clock,
              int64_t now);

  bool Valid() const override { return is_valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Status Refresh() override;
  Status Refresh(const Snapshot* snapshot) override;
  bool PrepareValue() override;
  Slice key() const override { return source_->key(); }
  Slice value() const override { return value_; }
  const WideColumns& columns() const override { return columns_; }
  Slice timestamp() const override { return source_->timestamp(); }
  Status status() const override { return status_.ok() ? source_->status() : status_; }
  // Also "ashlar.ttl.write-time": the time of the present value, as decimal text.
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override { source_->Prepare(scan_opts); }

 private:
  // Called after each move of the source. Moves on over expired values.
  void Settle(bool is_forward);
  // Takes the value and the columns of the source's entry. False, with status_ set, if the value
  // has no valid time.
  bool TakeValue();
  bool IsHidden() const;
  // Gives up the position, for a newer view.
  void BeginRefresh();

  const std::unique_ptr<Iterator> source_;
  const bool leaves_values_unread_;
  const std::shared_ptr<const TtlSetting> hidden_after_;
  const std::shared_ptr<SystemClock> clock_;
  int64_t now_;
  bool is_valid_ = false;
  int64_t write_time_ = 0;  // of value_; 0: none, as for an entity of wide columns
  Slice value_;             // points into the source
  WideColumns columns_;     // refer to the source
  Status status_;
};

}  // namespace ashlar
