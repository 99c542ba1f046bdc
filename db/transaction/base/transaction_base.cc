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

TransactionBase::TransactionBase(DBImpl* db)
    : db_(db),
      reads_(db),
      default_family_(db->DefaultColumnFamily()),
      batch_(default_family_->GetComparator(), /*reserved_bytes=*/0, /*overwrite_key=*/true),
      tracked_(std::make_unique<TrackedKeys>()) {}

TransactionBase::~TransactionBase() = default;

uint64_t TransactionBase::NowMicros() const { return db_->clock()->NowMicros(); }

uint64_t TransactionBase::GetElapsedTime() const { return (NowMicros() - start_micros_) / 1000; }

void TransactionBase::Start(const WriteOptions& options) {
  write_options_ = options;
  start_micros_ = NowMicros();
  is_indexing_ = true;
  log_number_ = 0;
  snapshot_ = nullptr;
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

void TransactionBase::HoldSnapshot(const Snapshot* snapshot) {
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

void TransactionBase::TakeDueSnapshotNow() {
  const std::shared_ptr<TransactionNotifier> notifier = notifier_;
  SetSnapshot();
  if (notifier != nullptr) notifier->SnapshotCreated(GetSnapshot());
}

void TransactionBase::ClearSnapshot() { HoldSnapshot(nullptr); }

void TransactionBase::GiveBackSnapshots() {
  ClearSnapshot();
  for (SavePointState& state : save_points_) state.snapshot = nullptr;
}

void TransactionBase::SetSavePoint() {
  save_points_.push_back({.snapshot = snapshot_,
                          .notifier = notifier_,
                          .is_snapshot_due = is_snapshot_due_,
                          .counts = counts_});
  tracked_->SetSavePoint();
  batch_.SetSavePoint();
}

Status TransactionBase::RollbackToSavePoint() {
  RETURN_IF_ERROR(CheckOpen());
  if (save_points_.empty()) return Status::NotFound("the transaction has no savepoint");
  RETURN_IF_ERROR(RollBackBatch());
  SavePointState& state = save_points_.back();
  snapshot_ = std::move(state.snapshot);
  notifier_ = std::move(state.notifier);
  is_snapshot_due_ = state.is_snapshot_due;
  counts_ = state.counts;
  save_points_.pop_back();
  tracked_->RollBack([this](TrackedKeys::Key* key) { Untrack(key); });
  return Status::OK();
}

Status TransactionBase::PopSavePoint() {
  if (save_points_.empty()) return Status::NotFound("the transaction has no savepoint");
  save_points_.pop_back();
  tracked_->PopSavePoint();
  return PopBatchSavePoint();
}

}  // namespace ashlar
