// SPDX-License-Identifier: Apache-2.0
//
// UnpreparedIterator is an iterator of a write-unprepared transaction. It shows the transaction's
// batch on top of the database with what the transaction has written already.
//
// When the transaction writes its batch out while the iterator is open, the iterator keeps what it
// shows, from the old batch, which it keeps alive. At its next move it is made anew over the data
// that is in the database by then, and goes on behind the key that it showed. All of this is as of
// one moment, which a snapshot holds.
//
// The transaction ends it with its own end, or when it takes updates back: then it is not valid for
// ever, and its status is InvalidArgument. Threads: those of the transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

class ColumnFamilyHandle;
class UnpreparedIterator;

// The open iterators of one transaction.
class UnpreparedIterators {
 public:
  UnpreparedIterators() = default;
  ~UnpreparedIterators() { EndAll(); }
  UnpreparedIterators(const UnpreparedIterators&) = delete;
  UnpreparedIterators& operator=(const UnpreparedIterators&) = delete;

  bool empty() const { return first_ == nullptr; }
  // The batch was replaced by another one.
  void NoteNewBatch() { batches_++; }
  void EndAll();

 private:
  friend class UnpreparedIterator;
  UnpreparedIterator* first_ = nullptr;
  uint64_t batches_ = 0;  // how many there were before the present one
};

class UnpreparedIterator final : public Iterator {
 public:
  // The transaction, which ends all iterators before it goes.
  class Source {
   public:
    // The batch on top of the database. Sets *own to what the transaction has written so far; it
    // outlives the result, as does the snapshot of the options.
    virtual std::unique_ptr<Iterator> MakeInner(const ReadOptions& options,
                                                ColumnFamilyHandle* family,
                                                DecidedVersions::Own* own) = 0;
    // A snapshot of now; null if the options name one or follow the newest state.
    virtual std::shared_ptr<const Snapshot> TakeMoment(const ReadOptions& options) = 0;

   protected:
    ~Source() = default;
  };

  // `family` outlives the iterator. `moment`: of TakeMoment().
  UnpreparedIterator(UnpreparedIterators* list, Source* source, const ReadOptions& options,
                     ColumnFamilyHandle* family, std::shared_ptr<const Snapshot> moment);
  ~UnpreparedIterator() override;

  bool Valid() const override { return inner_ != nullptr && inner_->Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return inner_->key(); }
  Slice value() const override { return inner_->value(); }
  const WideColumns& columns() const override { return inner_->columns(); }
  Slice timestamp() const override { return inner_->timestamp(); }
  bool PrepareValue() override { return inner_->PrepareValue(); }
  Status status() const override;
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override;

 private:
  friend class UnpreparedIterators;

  bool is_current() const { return batches_ == list_->batches_; }
  // On an exception nothing has changed.
  void MakeInner(const ReadOptions& options);
  // False: it has ended.
  bool BeginSeek();
  void Unlink();
  void End();

  UnpreparedIterators* list_;  // null: it has ended
  Source* const source_;
  ReadOptions options_;
  ColumnFamilyHandle* const family_;
  std::shared_ptr<const Snapshot> moment_;  // null: options_ name one, or follow the newest state
  uint64_t batches_ = 0;                    // of the list, when inner_ was made
  std::unique_ptr<DecidedVersions::Own> own_;  // of inner_
  std::unique_ptr<Iterator> inner_;            // null: it has ended
  std::string key_;                            // while inner_ is made anew
  UnpreparedIterator* previous_ = nullptr;
  UnpreparedIterator* next_ = nullptr;
};

}  // namespace ashlar
