// SPDX-License-Identifier: Apache-2.0
//
// Snapshots, savepoints, beginning and ending.
#include "db/transaction/base/transaction_base.h"

#include <cassert>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/system_clock.h"
#include "db/db_impl.h"
#include "util/result.h"

namespace ashlar {

// The batch overwrites: an update of a key replaces the entry of an earlier one in the index, so a
// read finds the newest update at once.
TransactionBase::TransactionBase(DBImpl* db)
    : db_(db),
      reads_(db),
      default_family_(db->DefaultColumnFamily()),
      batch_(default_family_->GetComparator(), /*reserved_bytes=*/0, /*overwrite_key=*/true),
      tracked_(std::make_unique<TrackedKeys>()) {
  assert(db_ != nullptr);
  assert(default_family_ != nullptr);
}

TransactionBase::~TransactionBase() = default;

uint64_t TransactionBase::NowMicros() const { return db_->clock()->NowMicros(); }

// In milliseconds, as RocksDB's API has it.
uint64_t TransactionBase::GetElapsedTime() const { return (NowMicros() - start_micros_) / 1000; }

// A snapshot that an earlier use of the object held is released here, not in Clear(): a transaction
// that has ended may still be asked for its snapshot.
void TransactionBase::Start(const WriteOptions& options) {
  assert(tracked_->count() == 0);
  assert(save_points_.empty());
  write_options_ = options;
  start_micros_ = NowMicros();
  is_indexing_ = true;
  log_number_ = 0;
  snapshot_ = nullptr;
  // A notifier belongs to the snapshot that was due, so it is forgotten together with it.
  notifier_ = nullptr;
  is_snapshot_due_ = false;
}

void TransactionBase::Clear() {
  batch_.Clear();
  commit_time_batch_.Clear();
  tracked_->Clear();
  save_points_.clear();
  counts_ = {};
}

// The last holder releases the snapshot. That may be this transaction, one of its savepoints, or
// the program, which can have a copy of the pointer. So the deleter knows the database, not the
// transaction.
void TransactionBase::HoldSnapshot(const Snapshot* snapshot) {
  // The lambda must not refer to the transaction, which may be gone when the last holder releases.
  DB* const db = db_;
  snapshot_ = snapshot == nullptr
                  ? nullptr
                  : std::shared_ptr<const Snapshot>(snapshot, [db](const Snapshot* released) {
                      db->ReleaseSnapshot(released);
                    });
  is_snapshot_due_ = false;
  notifier_ = nullptr;
}

void TransactionBase::SetSnapshot() { HoldSnapshot(db_->GetSnapshot()); }

void TransactionBase::SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) {
  is_snapshot_due_ = true;
  notifier_ = std::move(notifier);
}

// SetSnapshot() forgets the notifier, and the notifier may call this transaction. Both are reasons
// to hold it in a variable of this function until it has been called.
void TransactionBase::TakeDueSnapshotNow() {
  assert(is_snapshot_due_);
  const std::shared_ptr<TransactionNotifier> notifier = notifier_;
  SetSnapshot();
  if (notifier != nullptr) notifier->SnapshotCreated(GetSnapshot());
}

void TransactionBase::ClearSnapshot() { HoldSnapshot(nullptr); }

// Also those of savepoints: after the transaction has ended none of them may keep old versions
// alive.
void TransactionBase::GiveBackSnapshots() {
  ClearSnapshot();
  for (SavePointState& state : save_points_) state.snapshot = nullptr;
}

// Three parts of a transaction have savepoints of their own: this object, the tracked keys and the
// batch. They are set, taken back and forgotten together, so all three always have equally many.
void TransactionBase::SetSavePoint() {
  save_points_.push_back({.snapshot = snapshot_,
                          .notifier = notifier_,
                          .is_snapshot_due = is_snapshot_due_,
                          .counts = counts_});
  tracked_->SetSavePoint();
  batch_.SetSavePoint();
}

// The updates are taken back before the keys are unlocked. So no key is free for others while the
// batch still has an update of it that is to be taken back.
Status TransactionBase::RollbackToSavePoint() {
  RETURN_IF_ERROR(CheckOpen());
  if (save_points_.empty()) return Status::NotFound("the transaction has no savepoint");
  // If the batch cannot be rolled back, the savepoint stays, and so do the locks.
  RETURN_IF_ERROR(RollBackBatch());
  SavePointState& state = save_points_.back();
  snapshot_ = std::move(state.snapshot);
  notifier_ = std::move(state.notifier);
  is_snapshot_due_ = state.is_snapshot_due;
  // The counters are those of the moment of the savepoint, like everything else that is restored.
  counts_ = state.counts;
  save_points_.pop_back();
  tracked_->RollBack([this](TrackedKeys::Key* key) { Untrack(key); });
  return Status::OK();
}

Status TransactionBase::PopSavePoint() {
  if (save_points_.empty()) return Status::NotFound("the transaction has no savepoint");
  // The locks that were taken since the savepoint stay; they now belong to the savepoint below it.
  save_points_.pop_back();
  tracked_->PopSavePoint();
  return PopBatchSavePoint();
}

void TransactionBase::ForgetSavePoints() {
  while (!save_points_.empty()) IgnoreError(PopSavePoint(), "there is a savepoint");
}

}  // namespace ashlar
