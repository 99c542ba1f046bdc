// SPDX-License-Identifier: Apache-2.0
//
// A transaction that locks what it touches. It writes to the memtables at commit (write-committed),
// at prepare (write-prepared), or whenever its batch is large (write-unprepared); then readers do
// not see the data before the commit, and a rollback writes what was there before.
//
//   STARTED -> AWAITING_COMMIT -> COMMITTED
//   STARTED -> AWAITING_PREPARE -> PREPARED -> AWAITING_COMMIT -> COMMITTED
//                                           -> AWAITING_ROLLBACK -> ROLLEDBACK
//   STARTED -> LOCKS_STOLEN, by another thread after the expiration
//
// Locks end when the commit is visible, before the wait for its sync: whoever locks a key next sees
// the commit, and comes later in the log.
//
// One that is destroyed while it is PREPARED goes on in a new object under its name, with its
// locks: a shell, which the database owns until it is decided. So does a prepare section that was
// found in the log at opening. One that is destroyed while it is STARTED rolls back what it has
// written; if that fails, a shell goes on as well, which is AWAITING_ROLLBACK.
//
// Threads: one at a time, as for all transactions; but another thread may steal the locks after the
// expiration (see TransactionOwner), and any thread may ask for GetPicture() and GetWaitingTxns().
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/state/prepared_logs.h"
#include "db/transaction/base/transaction_base.h"
#include "db/transaction/pessimistic/pessimistic_state.h"
#include "db/transaction/pessimistic/transaction_owner.h"
#include "db/transaction/pessimistic/unprepared_iterator.h"
#include "db/transaction/pessimistic/unprepared_parts.h"
#include "db/write/commit_pipeline.h"

namespace ashlar {

class PessimisticTransaction final : public TransactionBase,
                                     private CommitHook,
                                     private UnpreparedIterator::Source {
 public:
  explicit PessimisticTransaction(PessimisticState* state);
  ~PessimisticTransaction() override;

  // Starts a new use of the object. A transaction that is prepared is first moved into a shell; any
  // other earlier use ends without a commit.
  void Begin(const WriteOptions& write_options, const TransactionOptions& options);
  using Recovered = std::span<std::unique_ptr<OwnedSection>>;
  // Becomes the shell of a prepared transaction whose sections these are, and takes them over.
  // Updates of families that are gone are left out.
  Status Recover(Recovered sections);
  // Becomes a write-unprepared transaction that was not prepared, and rolls it back. The sections
  // are taken over. After an error it is a shell.
  Status RecoverAndRollBack(Recovered sections);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  Status SetName(const TransactionName& name) override;
  void SetSavePoint() override;
  void PutLogData(const Slice& blob) override;
  using TransactionBase::GetIterator;
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status CollapseKey(const ReadOptions& options, const Slice& key,
                     ColumnFamilyHandle* family) override;
  Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start,
                      const Endpoint& end) override;
  void SetLockTimeout(int64_t timeout_ms) override;
  void SetDeadlockTimeout(int64_t timeout_ms) override;
  TransactionID GetID() const override { return owner_->id(); }
  bool IsDeadlockDetect() const override { return owner_->deadlock_detect; }
  std::vector<TransactionID> GetWaitingTxns(uint32_t* column_family_id,
                                            std::string* key) const override;
  Status SetReadTimestampForValidation(TxnTimestamp ts) override;
  Status SetCommitTimestamp(TxnTimestamp ts) override;
  TxnTimestamp GetCommitTimestamp() const override { return commit_timestamp_; }

  // The state of a transaction as other threads may see it. Any thread may ask for it; it may be a
  // little older than the transaction.
  struct Picture {
    uint64_t batch_bytes;
    uint64_t begin_micros;  // 0: it holds nothing
    uint64_t prepare_log;   // 0: it is not prepared
  };
  Picture GetPicture() const {
    return {.batch_bytes = told_bytes_.load(std::memory_order_relaxed),
            .begin_micros = told_begin_.load(std::memory_order_relaxed),
            .prepare_log = told_log_.load(std::memory_order_relaxed)};
  }
  // The database made it, and deletes it if it is undecided when the database closes.
  bool is_shell() const { return is_shell_.load(std::memory_order_relaxed); }

 private:
  // A savepoint under the policy write-unprepared: where it is.
  struct Place {
    size_t bytes = 0;         // of the batch
    bool is_written = false;  // all before it is in parts: the first `parts` of them
    size_t parts = 0;
  };

  Status TrackKey(ColumnFamilyHandle* family, const Slice& key, const Access& access) override;
  void Untrack(TrackedKeys::Key* key) override { state_->locks->Release(key->lock()); }
  Status CheckOpen() const override;
  // OK if the batch may grow now. At the first update after Prepare() it gives the prepare section
  // a copy of the batch.
  Status AdmitUpdate();
  // The updates that were made after Prepare(), as a batch of their own.
  WriteBatch LaterUpdates();
  WriteBatch UpdatesFrom(size_t begin, uint32_t count_before);
  void Clear() override;
  void BeginBatch();
  void OnVisible(SequenceNumber first_seqno, SequenceNumber last_seqno) override;

  // A key whose lock is held: Busy if it has changed since the snapshot; else *seqno is the number
  // from which on it has not.
  Status CheckKey(const TrackedKeys::Key& key, const Access& access, SequenceNumber* seqno);
  // Whether the deadline of TransactionOptions::expiration has passed.
  bool IsExpired() const;
  // Refuses a commit that shall take a snapshot but has no timestamp for it.
  Status CheckDueSnapshot() const;
  // NotSupported under the policies that write before the commit.
  Status CheckTimestamps() const;
  // Whether the sections are in the log and no marker has decided about them. All are decided
  // together.
  bool IsUndecided() {
    PreparedSection* const any = section() != nullptr ? section() : parts_->first();
    return any->state() == PreparedSection::State::kUndecided;
  }
  // Changes the state from STARTED to `next`, after which nobody can steal the locks. Expired if
  // the deadline has passed or somebody was faster.
  Status LeaveStarted(TransactionState next);
  // Commit() of a transaction that was not prepared: one batch.
  Status CommitAtOnce();
  // Commit() of one that is not prepared but has written data.
  Status CommitWritten();
  // Commit() of a prepared one, and Rollback() of one with sections in the log: a marker in the log
  // decides about all its sections.
  Status CommitPrepared();
  Status RollbackWritten();
  Status WriteCompensations(WriteBatch* batch);
  // The snapshot with the commit timestamp, if one is due.
  void TakeCommitSnapshot();
  // Takes the name out of the registry, if there is one.
  void GiveUpName();
  void LeaveShell();
  void Adopt(PessimisticTransaction* undecided);
  // The prepare section, if it is prepared.
  PreparedSection* section() {
    return recovered_ != nullptr ? &recovered_->section : section_.get();
  }
  // All sections that one marker decides, the oldest one first.
  std::vector<PreparedSection*> Sections();
  Status TakeOver(Recovered sections);

  // transaction_unprepared.cc
  Status MakeRoom() override;
  Status RollBackBatch() override;
  Status PopBatchSavePoint() override;
  Status OpenIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                       std::vector<std::unique_ptr<Iterator>>* iterators) override;
  std::unique_ptr<Iterator> MakeInner(const ReadOptions& options, ColumnFamilyHandle* family,
                                      DecidedVersions::Own* own) override;
  std::shared_ptr<const Snapshot> TakeMoment(const ReadOptions& options) override;
  // It has written data while it was not prepared.
  bool HasWritten() const { return parts_ != nullptr && !parts_->empty(); }
  // What it has written of its own is in the database, or may be before an iterator ends.
  bool NeedsOwnIterators() const {
    return flush_bytes_ != 0 || (parts_ != nullptr && !parts_->own().empty());
  }
  Status WriteOut();
  Status WriteParts(size_t* written_end);
  size_t WrittenPlaces() const;
  void KeepRest(size_t begin);
  void EmptyBatch();
  Status UndoParts(size_t begin);
  void LeaveWritten();

  PessimisticState* const state_;
  // On the heap: the lock table has its address, also after the locks went to another object.
  std::unique_ptr<TransactionOwner> owner_;
  // Of one that is prepared: one of the two. The first is over the transaction's own batch, or if
  // there are later updates over section_batch_.
  std::unique_ptr<WriteBatch> section_batch_;
  std::unique_ptr<PreparedSection> section_;
  std::unique_ptr<OwnedSection> recovered_;
  // Under the policy write-unprepared; else null, empty and 0.
  std::unique_ptr<UnpreparedParts> parts_;
  std::vector<Place> places_;  // of all savepoints
  size_t flush_bytes_ = 0;     // a larger batch is written out; 0: never
  UnpreparedIterators iterators_;
  // Of one that is prepared: where the later updates begin in its batch, and how many are before.
  size_t prepared_bytes_ = 0;
  uint32_t prepared_count_ = 0;
  bool skips_concurrency_control_ = false;
  bool skips_prepare_ = true;
  bool uses_last_commit_time_batch_ = false;
  bool is_recovering_ = false;
  bool is_visible_ = false;                           // of a commit: readers see it
  size_t max_batch_bytes_ = 0;                        // 0: no limit
  TxnTimestamp read_timestamp_ = kMaxTxnTimestamp;    // the greatest: none
  TxnTimestamp commit_timestamp_ = kMaxTxnTimestamp;  // likewise
  std::atomic<bool> is_shell_{false};
  // Written by the transaction's own thread, read by GetPicture() on any thread.
  std::atomic<uint64_t> told_bytes_{0};
  std::atomic<uint64_t> told_begin_{0};
  std::atomic<uint64_t> told_log_{0};
};

}  // namespace ashlar
