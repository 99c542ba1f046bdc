// SPDX-License-Identifier: Apache-2.0
//
// Locks, checks, names; how a transaction ends is in transaction_ends.cc.
#include "db/transaction/pessimistic/pessimistic_transaction.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "ashlar/wide_columns.h"
#include "db/db_impl.h"
#include "db/transaction/validation/key_conflicts.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Milliseconds to microseconds; negative stays without a limit.
int64_t ToMicros(int64_t millis) {
  constexpr int64_t kMost = INT64_MAX / 1000;
  // The limit keeps the product from overflowing; it is the same as no limit in practice.
  return millis < 0 ? -1 : std::min(millis, kMost) * 1000;
}

}  // namespace

PessimisticTransaction::PessimisticTransaction(PessimisticState* state)
    : TransactionBase(state->db),
      state_(state),
      owner_(std::make_unique<TransactionOwner>(NewTransactionId())) {
  assert(state != nullptr);
  if (state->policy == PessimisticState::Policy::kWriteUnprepared) {
    // A transaction that writes before its commit must read its own undecided versions.
    parts_ = std::make_unique<UnpreparedParts>(db_);
    reads_ = parts_->reads();
  }
  state->registry.Add(this);
}

// A prepared transaction is not lost with its object: LeaveShell() moves everything into a new
// object that the database owns. All others, and all while the database closes, give up locks and
// name.
PessimisticTransaction::~PessimisticTransaction() {
  // Iterators refer to the transaction, and the program may delete them after it.
  iterators_.EndAll();
  const bool is_closing = state_->IsClosing();
  if (GetState() == PREPARED && !is_closing) {
    LeaveShell();
  } else {
    // What is in the log already must be rolled back, or it would stay undecided until the next
    // opening.
    if (HasWritten() && !is_closing) LeaveWritten();
    state_->locks->ReleaseAll(owner_.get());
    GiveUpName();
  }
  state_->registry.Remove(this);
}

void PessimisticTransaction::Begin(const WriteOptions& write_options,
                                   const TransactionOptions& options) {
  // A transaction that is used again ends the last one, as the destructor would.
  iterators_.EndAll();
  if (GetState() == PREPARED) {
    LeaveShell();
  } else if (HasWritten()) {
    LeaveWritten();
  }
  batch_.SetMaxBytes(0);  // for the first byte of the batch, which the old limit may not allow
  Clear();
  GiveUpName();
  Start(write_options);
  const TransactionDBOptions& db_options = state_->options;
  assert(owner_ != nullptr);
  TransactionOwner& owner = *owner_;
  // A new number for each use: a waiter that still remembers the last one does not take it for
  // this.
  owner.Reuse(NewTransactionId());
  owner.lock_timeout_micros = ToMicros(
      options.lock_timeout < 0 ? db_options.transaction_lock_timeout : options.lock_timeout);
  owner.deadlock_detect = options.deadlock_detect;
  owner.deadlock_timeout_micros = options.deadlock_timeout_us;
  owner.deadlock_detect_depth = options.deadlock_detect_depth;
  owner.expiration_deadline =
      options.expiration < 0
          ? kNoDeadline
          : state_->clock->NowMicros() + static_cast<uint64_t>(ToMicros(options.expiration));
  // Last of the settings of the owner: from here on, another thread may steal the locks when the
  // deadline has passed. There are none yet.
  owner.Open(this);
  skips_concurrency_control_ =
      options.skip_concurrency_control || db_options.skip_concurrency_control;
  skips_prepare_ = options.skip_prepare;
  uses_last_commit_time_batch_ = options.use_only_the_last_commit_time_batch_for_recovery;
  read_timestamp_ = commit_timestamp_ = kMaxTxnTimestamp;
  id_ = 0;
  is_shell_.store(false, std::memory_order_relaxed);
  // A negative threshold of the transaction means that of the database.
  const int64_t threshold = options.write_batch_flush_threshold < 0
                                ? db_options.default_write_batch_flush_threshold
                                : options.write_batch_flush_threshold;
  flush_bytes_ = parts_ == nullptr || threshold < 0 ? 0 : static_cast<size_t>(threshold);
  max_batch_bytes_ = options.max_write_batch_size;
  batch_.SetMaxBytes(max_batch_bytes_);
  SetState(STARTED);
  if (options.set_snapshot) SetSnapshot();
}

// Nothing that it has written is undecided.
void PessimisticTransaction::Clear() {
  iterators_.EndAll();
  state_->locks->ReleaseAll(owner_.get());
  assert(!HasWritten() || !IsUndecided() || state_->IsClosing());
  section_ = nullptr;
  section_batch_ = nullptr;
  recovered_ = nullptr;
  if (parts_ != nullptr) parts_->Clear();
  places_.clear();
  TransactionBase::Clear();
  BeginBatch();
  // The numbers for reports, see GetPicture().
  told_bytes_.store(0, std::memory_order_relaxed);
  told_begin_.store(0, std::memory_order_relaxed);
  told_log_.store(0, std::memory_order_relaxed);
}

// A batch that may be prepared begins with a byte that becomes the marker.
void PessimisticTransaction::BeginBatch() {
  if (!state_->allows_prepare) return;
  IgnoreError(WriteBatchInternal::InsertNoop(batch_.GetWriteBatch()),
              "the limit of a batch is set later, and is not reached by one byte");
}

Status PessimisticTransaction::CheckOpen() const {
  switch (GetState()) {
    case STARTED: return Status::OK();
    case LOCKS_STOLEN: return Status::Expired("the transaction expired and lost its locks");
    default:
      return Status::InvalidArgument(
          StrCat("the transaction is in state ", int{GetState()}, ", not STARTED"));
  }
}

// Under the policy write-committed, a prepared transaction may go on: later updates are logged with
// the marker of the commit, and are gone after a rollback or a crash before it.
Status PessimisticTransaction::AdmitUpdate() {
  if (GetState() != PREPARED || state_->writes_before_commit()) return CheckOpen();
  // The section refers to the batch, which will grow; so it gets a copy of what was prepared.
  if (section_ != nullptr && section_batch_ == nullptr) {
    section_batch_ = std::make_unique<WriteBatch>(*batch_.GetWriteBatch());
    db_->ReplaceBatch(section_.get(), section_batch_.get());
  }
  return Status::OK();
}

// The call returns nothing, so what the state does not allow is dropped: the bytes of a prepare
// section must not change any more.
void PessimisticTransaction::PutLogData(const Slice& blob) {
  if (!AdmitUpdate().ok()) return;
  TransactionBase::PutLogData(blob);
}

// The updates since Prepare().
WriteBatch PessimisticTransaction::LaterUpdates() {
  assert(batch_.GetDataSize() >= prepared_bytes_);
  assert(WriteBatchInternal::Count(*batch_.GetWriteBatch()) >= prepared_count_);
  return UpdatesFrom(prepared_bytes_, prepared_count_);
}

// What the batch has behind this offset, before which are so many counted records.
WriteBatch PessimisticTransaction::UpdatesFrom(size_t begin, uint32_t count_before) {
  const WriteBatch& batch = *batch_.GetWriteBatch();
  assert(begin >= kWriteBatchHeaderBytes && begin <= batch.GetDataSize());
  // A batch of its own: a header of 12 bytes (sequence number 0, count), and the records.
  std::string contents;
  PutFixed64(&contents, 0);
  PutFixed32(&contents, WriteBatchInternal::Count(batch) - count_before);
  assert(contents.size() == kWriteBatchHeaderBytes);
  contents.append(batch.Data(), begin);
  return WriteBatch(std::move(contents));
}

Status PessimisticTransaction::TrackKey(ColumnFamilyHandle* family, const Slice& key,
                                        const Access& access) {
  RETURN_IF_ERROR(AdmitUpdate());
  if (skips_concurrency_control_) return Status::OK();
  // The record has the memory of the lock and of the key's bytes. It exists before the lock is
  // asked for, and is removed again by `undo` if the key cannot be had.
  assert(family != nullptr);
  TrackedKeys::Key* const record = tracked().FindOrAdd(family->GetID(), key);
  if (access.assumes_tracked && !record->is_tracked()) {
    tracked().Remove(record);
    return Status::InvalidArgument(
        "Transaction: assume_tracked, but the transaction has not locked the key");
  }
  assert(record->lock() != nullptr);
  KeyLock* const lock = record->lock();
  KeyLocks& locks = *state_->locks;
  const LockMode before = lock->mode();
  const LockMode wanted = access.is_exclusive ? LockMode::kExclusive : LockMode::kShared;
  // Puts the key back as it was, unless the function succeeds; also if a comparator or another part
  // of the program throws.
  ScopeExit undo([&] {
    if (before == LockMode::kNone) {
      if (lock->mode() != LockMode::kNone) locks.Release(lock);
      tracked().Remove(record);
    } else if (before == LockMode::kShared && lock->mode() == LockMode::kExclusive) {
      locks.Downgrade(lock);
    }
  });
  Status status;
  // Transactions of the log get their locks even if several of them have the same key.
  if (is_recovering_) {
    if (before == LockMode::kNone) locks.AcquireRecovered(owner_.get(), lock);
  } else if (before < wanted) {
    status = locks.Acquire(owner_.get(), lock, wanted);
  }
  TakeDueSnapshot();  // whether or not there is a lock, as in RocksDB
  SequenceNumber seqno = record->seqno();
  if (status.ok()) status = CheckKey(*record, access, &seqno);
  if (!status.ok()) return status;
  undo.Cancel();
  tracked().Track(record, access.use, seqno);
  const uint64_t written_bytes = parts_ == nullptr ? 0 : parts_->bytes();
  told_bytes_.store(batch_.GetDataSize() + written_bytes, std::memory_order_relaxed);
  // A transaction counts as open from its first key on, not from Begin().
  told_begin_.store(start_micros(), std::memory_order_relaxed);
  return status;
}

// Without a snapshot the lock is enough: the holder before has released it when its writes were
// visible, so the newest number covers them. With a snapshot, versions that are newer than the
// snapshot are conflicts, and the engine is asked for them, unless an earlier call has checked the
// key from an older number on.
Status PessimisticTransaction::CheckKey(const TrackedKeys::Key& key, const Access& access,
                                        SequenceNumber* seqno) {
  assert(seqno != nullptr);
  if (!access.is_validated || snapshot_ == nullptr) {
    if (!key.is_tracked()) *seqno = db_->GetLatestSequenceNumber();
    return Status::OK();
  }
  const SequenceNumber since = snapshot_->GetSequenceNumber();
  if (key.seqno() <= since) return Status::OK();
  const DecidedVersions::Own* const own = HasWritten() ? &parts_->written() : nullptr;
  RETURN_IF_ERROR(CheckUnchanged(db_, key.family(), key.key(), since, own));
  *seqno = since;
  return Status::OK();
}

// The name identifies the transaction in the log: after a crash the program finds it by its name.
// So it must be unique among the transactions of the database, and it cannot change.
Status PessimisticTransaction::SetName(const TransactionName& name) {
  constexpr size_t kMaxNameBytes = 512;
  if (GetState() != STARTED) {
    return Status::InvalidArgument("Transaction::SetName: the transaction is not STARTED");
  }
  if (!name_.empty()) {
    return Status::InvalidArgument("Transaction::SetName: the transaction has a name");
  }
  if (name.empty() || name.size() > kMaxNameBytes) {
    return Status::InvalidArgument("Transaction::SetName: a name has 1 to 512 bytes");
  }
  if (!state_->registry.Register(name, this)) {
    return Status::InvalidArgument("Transaction::SetName: another transaction has the name", name);
  }
  name_ = name;
  return Status::OK();
}

void PessimisticTransaction::GiveUpName() {
  if (name_.empty()) return;
  state_->registry.Unregister(name_);
  name_.clear();
}

Status PessimisticTransaction::CollapseKey(const ReadOptions& options, const Slice& key,
                                           ColumnFamilyHandle* family) {
  ColumnFamilyHandle* const handle = OrDefault(family);
  PinnableWideColumns columns;
  RETURN_IF_ERROR(GetEntityForUpdate(options, handle, key, &columns, /*exclusive=*/true,
                                     /*do_validate=*/true));
  // The value is written again as it was read, which replaces the operands of the key by one value.
  const WideColumns& found = columns.columns();
  const bool is_plain = found.size() == 1 && found.front().name() == kDefaultWideColumnName;
  if (is_plain) return Put(handle, key, found.front().value(), /*assume_tracked=*/false);
  return PutEntity(handle, key, found, /*assume_tracked=*/false);
}

Status PessimisticTransaction::GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start,
                                            const Endpoint& end) {
  RETURN_IF_ERROR(CheckOpen());
  // A range lock excludes all points in it, also those without a value.
  return state_->locks->AcquireRange(owner_.get(), OrDefault(family)->GetID(), start, end,
                                     LockMode::kExclusive);
}

void PessimisticTransaction::SetLockTimeout(int64_t timeout_ms) {
  owner_->lock_timeout_micros = ToMicros(timeout_ms);
}

void PessimisticTransaction::SetDeadlockTimeout(int64_t timeout_ms) {
  owner_->deadlock_timeout_micros = ToMicros(timeout_ms);
}

std::vector<TransactionID> PessimisticTransaction::GetWaitingTxns(uint32_t* column_family_id,
                                                                  std::string* key) const {
  // A copy of what the lock table knew at one moment; the wait may be over when the program reads
  // it.
  LockWait wait = state_->locks->GetWait(owner_.get());
  if (column_family_id != nullptr) *column_family_id = wait.family;
  if (key != nullptr) *key = std::move(wait.key);
  return std::move(wait.holders);
}

Status PessimisticTransaction::CheckTimestamps() const {
  if (!state_->writes_before_commit()) return Status::OK();
  return Status::NotSupported("Transaction: timestamps only with the policy WRITE_COMMITTED");
}

Status PessimisticTransaction::SetReadTimestampForValidation(TxnTimestamp ts) {
  RETURN_IF_ERROR(CheckTimestamps());
  if (read_timestamp_ != kMaxTxnTimestamp && ts < read_timestamp_) {
    return Status::InvalidArgument(
        "Transaction::SetReadTimestampForValidation: the timestamp may not decrease");
  }
  read_timestamp_ = ts;
  return Status::OK();
}

// A version that this transaction has read could otherwise get a timestamp that is not older than
// the one which the transaction writes.
Status PessimisticTransaction::SetCommitTimestamp(TxnTimestamp ts) {
  RETURN_IF_ERROR(CheckTimestamps());
  if (read_timestamp_ != kMaxTxnTimestamp && ts <= read_timestamp_) {
    return Status::InvalidArgument(
        "Transaction::SetCommitTimestamp: must be above the read timestamp");
  }
  commit_timestamp_ = ts;
  return Status::OK();
}

// Moves an undecided transaction into a new object, to which the name belongs from now on, and
// which takes over its locks, its keys and its updates. This object is left without any of them.
void PessimisticTransaction::LeaveShell() {
  ForgetSavePoints();  // they belong to this object
  auto shell = std::make_unique<PessimisticTransaction>(state_);
  shell->Adopt(this);
  // From here on the program finds the new object by the name.
  state_->registry.Replace(shell->name_, shell.get());
  shell.release();  // the registry knows it
}

// The owner of the locks and the records of the keys keep their addresses, which the lock table
// has: only the pointers to them are swapped.
void PessimisticTransaction::Adopt(PessimisticTransaction* undecided) {
  assert(undecided != nullptr);
  std::swap(owner_, undecided->owner_);
  std::swap(tracked_, undecided->tracked_);
  std::swap(section_, undecided->section_);
  std::swap(section_batch_, undecided->section_batch_);
  prepared_bytes_ = undecided->prepared_bytes_;
  prepared_count_ = undecided->prepared_count_;
  std::swap(recovered_, undecided->recovered_);
  std::swap(parts_, undecided->parts_);
  std::swap(reads_, undecided->reads_);
  std::swap(batch_, undecided->batch_);
  std::swap(commit_time_batch_, undecided->commit_time_batch_);
  std::swap(name_, undecided->name_);
  CopyCounters(*undecided);
  write_options_ = undecided->write_options_;
  commit_timestamp_ = undecided->commit_timestamp_;
  uses_last_commit_time_batch_ = undecided->uses_last_commit_time_batch_;
  log_number_ = undecided->log_number_;
  id_ = undecided->id_;
  told_bytes_ = undecided->told_bytes_.load();
  told_begin_ = undecided->told_begin_.load();
  told_log_ = undecided->told_log_.load();
  is_shell_ = true;
  SetState(undecided->GetState());
}

// Whether it was prepared or not: nobody else knows its locks.
Status PessimisticTransaction::TakeOver(Recovered sections) {
  assert(!sections.empty());
  WriteOptions options;
  // What decides an undecided transaction must not be lost again, so its records are synced.
  options.sync = true;
  Begin(options, TransactionOptions());
  // A transaction of the log is not written out again, however large its batch is.
  flush_bytes_ = 0;
  // The name comes first, as a transaction can be named only while it is STARTED.
  RETURN_IF_ERROR(SetName(sections.front()->section.xid()));
  if (!owner_->Close()) assert(false);
  log_number_ = sections.front()->section.log().value();
  if (state_->writes_before_commit()) SetId(sections.front()->section.first_seqno());
  is_shell_ = true;
  return Status::OK();
}

Status PessimisticTransaction::Recover(Recovered sections) {
  RETURN_IF_ERROR(TakeOver(sections));
  is_recovering_ = true;
  // With parts the data is in the database already, so only the keys are locked.
  for (const std::unique_ptr<OwnedSection>& section : sections) {
    RETURN_IF_ERROR(parts_ != nullptr ? TrackUpdatesOf(section->batch)
                                      : AddUpdatesOf(section->batch));
  }
  is_recovering_ = false;
  assert(parts_ != nullptr || sections.size() == 1);
  // Nothing can fail from here on.
  for (std::unique_ptr<OwnedSection>& section : sections.first(sections.size() - 1)) {
    parts_->AddRecovered(std::move(section));
  }
  recovered_ = std::move(sections.back());
  if (parts_ != nullptr) parts_->ShowAsOwn(recovered_->section);
  prepared_bytes_ = batch_.GetWriteBatch()->GetDataSize();
  prepared_count_ = WriteBatchInternal::Count(*batch_.GetWriteBatch());
  told_log_ = log_number_;
  assert(recovered_ != nullptr);
  SetState(PREPARED);
  return Status::OK();
}

Status PessimisticTransaction::RecoverAndRollBack(Recovered sections) {
  RETURN_IF_ERROR(TakeOver(sections));
  for (std::unique_ptr<OwnedSection>& section : sections) {
    parts_->AddRecovered(std::move(section));
  }
  // The state that lets Rollback() try again if this rollback fails.
  SetState(AWAITING_ROLLBACK);
  is_recovering_ = true;
  return RollbackWritten();
}

}  // namespace ashlar
