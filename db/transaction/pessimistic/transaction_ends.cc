// SPDX-License-Identifier: Apache-2.0
//
// Prepare, commit and rollback.
//
// A commit is one record in the log. A crash before the record is complete leaves nothing of the
// transaction, or leaves it prepared; a crash afterwards leaves all of it.
#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/transaction/pessimistic/compensations.h"
#include "db/transaction/pessimistic/pessimistic_transaction.h"
#include "db/write/write_batch_internal.h"
#include "util/result.h"
#include "util/scope_exit.h"
#include "util/statistics/statistics.h"

namespace ashlar {

bool PessimisticTransaction::IsExpired() const {
  // A transaction without a time limit has no deadline, and the clock is not asked.
  return owner_->expiration_deadline != kNoDeadline &&
         state_->clock->NowMicros() >= owner_->expiration_deadline;
}

// From here on nobody steals locks.
Status PessimisticTransaction::LeaveStarted(TransactionState next) {
  if (IsExpired()) return Status::Expired("the transaction has expired");
  // False means that a thief was faster and the locks are gone.
  if (!owner_->Close()) return Status::Expired("the transaction expired and lost its locks");
  SetState(next);
  return Status::OK();
}

Status PessimisticTransaction::Prepare() {
  switch (GetState()) {
    case STARTED:
    case LOCKS_STOLEN: break;
    case PREPARED: return Status::InvalidArgument("the transaction is prepared already");
    case COMMITTED: return Status::InvalidArgument("the transaction is committed");
    case ROLLEDBACK: return Status::InvalidArgument("the transaction is rolled back");
    default: return Status::InvalidArgument("the transaction cannot be prepared in its state");
  }
  // Without a name nobody could find the transaction after a crash.
  if (name_.empty()) {
    return Status::InvalidArgument("Transaction::Prepare: the transaction needs a name");
  }
  if (GetState() == LOCKS_STOLEN) {
    return Status::Expired("the transaction expired and lost its locks");
  }
  if (!state_->allows_prepare) {
    return Status::NotSupported(
        "Transaction::Prepare: the database was opened without DBOptions::allow_2pc");
  }
  using Policy = PessimisticState::Policy;
  // The last section of a write-unprepared transaction is one of the policy write-prepared.
  const Policy policy =
      state_->policy == Policy::kWriteUnprepared ? Policy::kWritePrepared : state_->policy;
  WriteBatch* const batch = batch_.GetWriteBatch();
  // The log would have the begin of the section without its end, which no replay accepts.
  if (!batch->GetWalTerminationPoint().is_cleared()) {
    return Status::NotSupported(
        "Transaction::Prepare: the batch has a WAL termination point, but the log must have the "
        "whole batch");
  }
  if (state_->writes_before_commit() && batch->HasDeleteRange()) {
    return Status::NotSupported("Transaction::Prepare: a DeleteRange could not be rolled back");
  }
  RETURN_IF_ERROR(LeaveStarted(AWAITING_PREPARE));
  batch->SetMaxBytes(0);  // the marker is no update
  // Where the marker begins, so that a failed Prepare() can take it back.
  const size_t end = batch->GetDataSize();
  Status status = WriteBatchInternal::MarkEndPrepare(batch, name_, policy);
  if (status.ok()) {
    section_ = std::make_unique<PreparedSection>(name_, policy, batch);
    status = db_->WritePrepare(write_options_, section_.get());
  }
  // The section decides, not the status: a sync may have failed after the section was in the log.
  const bool is_prepared = section_ != nullptr && IsUndecided();
  if (!is_prepared) {
    section_ = nullptr;
    WriteBatchInternal::TakeBackPrepare(batch, end);
    batch->SetMaxBytes(max_batch_bytes_);
    SetState(STARTED);
    if (!HasWritten()) owner_->Open(this);  // from here on a thief may change the state
    return status;
  }
  // From here on updates belong to the commit, see LaterUpdates().
  assert(section_ != nullptr);
  prepared_bytes_ = batch->GetDataSize();
  prepared_count_ = WriteBatchInternal::Count(*batch);
  // With parts the transaction got its number and its log from the first of them.
  if (!HasWritten()) {
    log_number_ = section_->log().value();
    if (state_->writes_before_commit()) SetId(section_->first_seqno());
  }
  told_log_.store(log_number_, std::memory_order_relaxed);
  // What is prepared is decided as a whole. Savepoints from here on are those of later updates.
  ForgetSavePoints();
  SetState(PREPARED);
  return status;  // of a sync, perhaps: the data is in memtables all the same
}

Status PessimisticTransaction::Commit() {
  switch (GetState()) {
    case STARTED: return CommitAtOnce();
    case PREPARED: return CommitPrepared();
    case LOCKS_STOLEN: return Status::Expired("the transaction expired and lost its locks");
    case COMMITTED: return Status::InvalidArgument("the transaction is committed already");
    case ROLLEDBACK: return Status::InvalidArgument("the transaction is rolled back");
    default: return Status::InvalidArgument("the transaction cannot be committed in its state");
  }
}

Status PessimisticTransaction::CommitAtOnce() {
  // An expired transaction may have lost its locks, so its updates could overwrite those of others.
  if (IsExpired()) return Status::Expired("the transaction has expired");
  if (!skips_prepare_) return Status::TxnNotPrepared();
  // A commit-time batch stands beside a marker, and a commit without a prepare has none.
  if (commit_time_batch_.Count() > 0) {
    return Status::InvalidArgument(
        "Transaction::Commit: the commit-time batch is for prepared transactions only");
  }
  RETURN_IF_ERROR(CheckDueSnapshot());
  if (HasWritten()) return CommitWritten();
  // From here on this thread alone ends the transaction.
  RETURN_IF_ERROR(LeaveStarted(AWAITING_COMMIT));
  owner_->is_ending.store(true, std::memory_order_relaxed);
  WriteBatch* const batch = batch_.GetWriteBatch();
  // A batch that may be prepared has one byte behind its header, see Clear().
  const size_t empty_bytes = kWriteBatchHeaderBytes + (state_->allows_prepare ? 1 : 0);
  is_visible_ = false;
  bool has_failed = false;
  // A ScopeExit, so that the state is also corrected if a callback of the program throws.
  const ScopeExit end([&] {
    GiveUpName();
    Clear();
    if (is_visible_ && !has_failed) SetState(COMMITTED);
  });
  // No update at all: there is nothing to log.
  if (batch->GetDataSize() == empty_bytes) {
    const SequenceNumber newest = db_->GetLatestSequenceNumber();
    // Nothing is written, so the commit is "visible" at once. The locks are released as after a
    // write.
    OnVisible(newest + 1, newest);
    return Status::OK();
  }
  Status status = db_->WriteObserved(write_options_, batch, {.callback = nullptr, .hook = this});
  // A commit may be visible and still fail, if its sync fails: then the state is not COMMITTED,
  // since the data may be lost in a crash.
  has_failed = !status.ok();
  return status;
}

// The updates that are not written yet stand before the marker: one write makes everything visible,
// and after a crash the transaction is committed or rolled back, not prepared.
Status PessimisticTransaction::CommitWritten() {
  RETURN_IF_ERROR(LeaveStarted(AWAITING_COMMIT));
  // Also if code of the program throws.
  const ScopeExit end([this] {
    // Undecided means that the marker did not get into the log, so the commit can be tried again.
    if (IsUndecided()) {
      owner_->is_ending.store(false, std::memory_order_relaxed);
      SetState(STARTED);
      return;
    }
    GiveUpName();
    Clear();
    SetState(COMMITTED);
  });
  WriteBatch marker = UpdatesFrom(kWriteBatchHeaderBytes + 1, 0);  // without the first Noop
  CommitRecords records(&marker);
  records.ends_before_with_noop = WriteBatchInternal::Count(marker) > 0;
  if (records.ends_before_with_noop) WriteBatchInternal::AppendSeparator(&marker);
  RETURN_IF_ERROR(WriteBatchInternal::MarkCommit(&marker, name_));
  owner_->is_ending.store(true, std::memory_order_relaxed);
  // The sections become visible together with the marker.
  const std::vector<PreparedSection*> sections = Sections();
  assert(!sections.empty());
  return db_->WriteCommit(write_options_, records, PreparedSections(sections), this);
}

// A snapshot that is due at commit is one with a timestamp.
Status PessimisticTransaction::CheckDueSnapshot() const {
  if (!is_snapshot_due_ || state_->writes_before_commit()) return Status::OK();
  if (commit_timestamp_ != kMaxTxnTimestamp) return Status::OK();
  return Status::InvalidArgument(
      "Transaction::Commit: a snapshot that is due at commit needs a commit timestamp");
}

// The updates of the commit-time batch come first in the batch of the marker, those since Prepare()
// last: a replay inserts the section where the marker is.
Status PessimisticTransaction::CommitPrepared() {
  RETURN_IF_ERROR(CheckDueSnapshot());
  if (state_->writes_before_commit() && commit_time_batch_.Count() > 0 &&
      !uses_last_commit_time_batch_) {
    return Status::InvalidArgument(
        "Transaction::Commit: with this write policy a commit-time batch needs "
        "TransactionOptions::use_only_the_last_commit_time_batch_for_recovery");
  }
  WriteBatch marker = commit_time_batch_;
  // The log must have the marker, so a WAL termination point of the program does not count here.
  WriteBatchInternal::SetWalTerminationPoint(&marker, SavePoint());
  RETURN_IF_ERROR(WriteBatchInternal::MarkCommit(&marker, name_));
  // Updates since Prepare() are in the batch, but not in the section in the log.
  WriteBatch later = LaterUpdates();
  CommitRecords records(&marker);
  // Log data counts as no update, but belongs in the log as well. Under the other policies nothing
  // is added after Prepare().
  const bool has_log_data =
      !state_->writes_before_commit() && later.GetDataSize() > kWriteBatchHeaderBytes;
  if (later.Count() > 0 || has_log_data) {
    RETURN_IF_ERROR(WriteBatchInternal::Append(&marker, later));
    records = CommitRecords(&marker, &commit_time_batch_, &later);
  }
  SetState(AWAITING_COMMIT);
  owner_->is_ending.store(true, std::memory_order_relaxed);
  // A ScopeExit, so that the state is also corrected if a callback of the program throws.
  const ScopeExit end([this] {
    if (IsUndecided()) {
      owner_->is_ending.store(false, std::memory_order_relaxed);
      SetState(PREPARED);
      return;
    }
    is_shell_.store(false, std::memory_order_relaxed);
    GiveUpName();
    Clear();
    SetState(COMMITTED);
  });
  if (!HasWritten()) return db_->WriteCommit(write_options_, records, section(), this);
  const std::vector<PreparedSection*> sections = Sections();
  return db_->WriteCommit(write_options_, records, PreparedSections(sections), this);
}

Status PessimisticTransaction::Rollback() {
  switch (GetState()) {
    // Nothing is in the log, so forgetting the batch and the locks is the whole rollback.
    case STARTED:
    case LOCKS_STOLEN:
      if (HasWritten()) return RollbackWritten();
      Clear();
      return Status::OK();
    case PREPARED: return RollbackWritten();
    case AWAITING_ROLLBACK: return RollbackWritten();  // a shell that could not be rolled back
    case COMMITTED: return Status::InvalidArgument("the transaction is committed already");
    case ROLLEDBACK: return Status::InvalidArgument("the transaction is rolled back already");
    default: return Status::InvalidArgument("the transaction cannot be rolled back in its state");
  }
}

// What has a section in the log, prepared or not.
Status PessimisticTransaction::RollbackWritten() {
  const TransactionState before = GetState();
  const std::vector<PreparedSection*> sections = Sections();
  assert(!sections.empty());
  WriteBatch marker;
  if (state_->writes_before_commit()) RETURN_IF_ERROR(WriteCompensations(&marker));
  // One record has the compensations and the marker, so a crash leaves both or none.
  RETURN_IF_ERROR(WriteBatchInternal::MarkRollback(&marker, name_));
  SetState(AWAITING_ROLLBACK);
  const Status status = db_->WriteRollback(write_options_, &marker, PreparedSections(sections));
  // Neither the compensations nor the marker are in the log, so the state is as before.
  if (!status.ok() && IsUndecided()) {
    SetState(before);
    return status;
  }
  is_shell_.store(false, std::memory_order_relaxed);
  Clear();
  SetState(before == STARTED ? STARTED : ROLLEDBACK);
  if (before == STARTED) owner_->Open(this);
  return status;
}

// Under the policy write-unprepared merge operands are undone in any case: others of the
// transaction may have been taken back by a savepoint, so that it is all or nothing.
Status PessimisticTransaction::WriteCompensations(WriteBatch* batch) {
  const bool undoes_merges = parts_ != nullptr || state_->options.rollback_merge_operands;
  const bool is_of_log = is_recovering_ || recovered_ != nullptr;
  Compensations undo(
      state_, batch,
      {.undoes_merges = undoes_merges, .spares_newer = parts_ != nullptr && is_of_log});
  if (section() != nullptr) RETURN_IF_ERROR(undo.UndoAll(*section()));
  if (parts_ == nullptr) return Status::OK();
  for (const PreparedSection* part : parts_->NewestFirst()) RETURN_IF_ERROR(undo.UndoAll(*part));
  return Status::OK();
}

std::vector<PreparedSection*> PessimisticTransaction::Sections() {
  std::vector<PreparedSection*> sections;
  if (parts_ != nullptr) parts_->AppendTo(&sections);
  if (section() != nullptr) sections.push_back(section());
  return sections;
}

// Called by the pipeline, in the thread of the commit, before the sync. The locks are released
// last, and also if taking the snapshot throws.
void PessimisticTransaction::OnVisible(SequenceNumber first_seqno, SequenceNumber) {
  const ScopeExit release([this] { state_->locks->ReleaseAll(owner_.get()); });
  is_visible_ = true;
  RecordInHistogram(db_->statistics(), NUM_OP_PER_TRANSACTION,
                    GetNumPuts() + GetNumDeletes() + GetNumMerges());
  // Under the other policies the number is that of the first section, and is known already.
  if (!state_->writes_before_commit() || GetId() == 0) SetId(first_seqno);
  if (is_snapshot_due_ && !state_->writes_before_commit()) TakeCommitSnapshot();
}

// It may fail, which does not change that the transaction is committed.
void PessimisticTransaction::TakeCommitSnapshot() {
  const std::shared_ptr<TransactionNotifier> notifier = std::move(notifier_);
  notifier_ = nullptr;
  is_snapshot_due_ = false;
  snapshot_ = state_->CreateTimestampedSnapshot(commit_timestamp_).second;
  if (snapshot_ != nullptr && notifier != nullptr) notifier->SnapshotCreated(snapshot_.get());
}

}  // namespace ashlar
