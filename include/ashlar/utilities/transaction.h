// SPDX-License-Identifier: Apache-2.0
//
// Transaction collects updates that are seen by its own reads at once and by everybody else after
// Commit(), all or none. Made by TransactionDB (locks keys as they are written) or by
// OptimisticTransactionDB (looks for conflicts at commit); the caller deletes it. Destroying an
// active transaction rolls it back. Not built yet: neither kind of database can be opened.
//
// Statuses beside those of reads and writes: Busy, Busy(kDeadlock), TimedOut(kLockTimeout) or
// Aborted(kLockLimit) for a lock that could not be had or a conflict; TryAgain if the memtables no
// longer tell whether there is one; Expired after TransactionOptions::expiration.
//
// Threads: one at a time per transaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Iterator;
class TransactionDB;
class WriteBatchWithIndex;

using TransactionName = std::string;
using TransactionID = uint64_t;
using TxnTimestamp = uint64_t;
constexpr TxnTimestamp kMaxTxnTimestamp = std::numeric_limits<TxnTimestamp>::max();

// End of a locked range: a key, or with inf_suffix all keys that begin with it.
class Endpoint {
 public:
  Slice slice;
  bool inf_suffix;

  explicit Endpoint(const Slice& slice_arg, bool inf_suffix_arg = false)
      : slice(slice_arg), inf_suffix(inf_suffix_arg) {}
  explicit Endpoint(const char* s, bool inf_suffix_arg = false)
      : slice(s), inf_suffix(inf_suffix_arg) {}
  Endpoint(const char* s, size_t size, bool inf_suffix_arg = false)
      : slice(s, size), inf_suffix(inf_suffix_arg) {}
  Endpoint() : inf_suffix(false) {}
};

// Told when a delayed snapshot is taken, by the thread that writes.
class ASHLAR_EXPORT TransactionNotifier {
 public:
  virtual ~TransactionNotifier() {}
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

class ASHLAR_EXPORT Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction() {}

  // From here on a key that somebody else wrote is a conflict. It does not change what Get() sees:
  // for that set ReadOptions::snapshot to GetSnapshot().
  virtual void SetSnapshot() = 0;
  // The same at the next write or GetForUpdate.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // Null without one; valid until the next SetSnapshot or ClearSnapshot, or the end.
  virtual const Snapshot* GetSnapshot() const = 0;
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  virtual void ClearSnapshot() = 0;

  // First phase of two-phase commit: writes the updates to the WAL. Needs a name.
  virtual Status Prepare() = 0;
  virtual Status Commit() = 0;
  // Commits and takes a snapshot that contains the transaction.
  Status CommitAndTryCreateSnapshot(
      std::shared_ptr<TransactionNotifier> notifier = std::shared_ptr<TransactionNotifier>(),
      TxnTimestamp ts = kMaxTxnTimestamp, std::shared_ptr<const Snapshot>* snapshot = nullptr);
  // Drops all updates and locks.
  virtual Status Rollback() = 0;

  // A stack of states; rolling back also gives up the locks taken since. NotFound without one.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Reads of the own updates on top of the database.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* pinnable_val);
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* pinnable_val);
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_family,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys, PinnableSlice* values,
                        Status* statuses, const bool sorted_input = false);
  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false) = 0;

  // The same, and the key is locked (shared if not exclusive) and counts as written for conflicts.
  // do_validate: it must not have changed since the snapshot.
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, std::string* value, bool exclusive = true,
                              const bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, PinnableSlice* pinnable_val, bool exclusive = true,
                              const bool do_validate = true);
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                              bool exclusive = true, const bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key,
                              PinnableSlice* pinnable_val, bool exclusive = true,
                              const bool do_validate = true);
  virtual Status GetEntityForUpdate(const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, const Slice& key,
                                    PinnableWideColumns* columns, bool exclusive = true,
                                    bool do_validate = true) = 0;
  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                                const std::vector<Slice>& keys,
                                                std::vector<std::string>* values) = 0;
  // Locks a range. NotSupported by lock managers that lock keys.
  virtual Status GetRangeLock(ColumnFamilyHandle* column_family, const Endpoint& start_endp,
                              const Endpoint& end_endp);

  // Iterators over the own updates on top of the database; valid until the transaction ends.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;
  virtual std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Writes. assume_tracked: the key is locked already, so nothing needs to be checked.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                     const bool assume_tracked = false) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value, const bool assume_tracked = false) = 0;
  virtual Status Put(const SliceParts& key, const SliceParts& value) = 0;
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns, bool assume_tracked = false) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                       const bool assume_tracked = false) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                        const bool assume_tracked = false) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key,
                        const bool assume_tracked = false) = 0;
  virtual Status Delete(const SliceParts& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              const bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key,
                              const bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const SliceParts& key) = 0;

  // The same without looking for conflicts; keys are still locked by TransactionDB.
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& value) = 0;
  virtual Status PutUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const SliceParts& key,
                              const SliceParts& value) = 0;
  virtual Status PutUntracked(const SliceParts& key, const SliceParts& value) = 0;
  virtual Status PutEntityUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                    const WideColumns& columns) = 0;
  virtual Status MergeUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) = 0;
  virtual Status MergeUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status DeleteUntracked(const Slice& key) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const SliceParts& key) = 0;
  virtual Status DeleteUntracked(const SliceParts& key) = 0;
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDeleteUntracked(const Slice& key) = 0;

  // Replaces the merge operands of a key by their result.
  virtual Status CollapseKey(const ReadOptions& options, const Slice& key,
                             ColumnFamilyHandle* column_family = nullptr);

  // Bytes for readers of the WAL.
  virtual void PutLogData(const Slice& blob) = 0;

  // Between the two, own writes are not seen by own reads, which makes them cheaper.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // Own updates so far.
  virtual uint64_t GetNumKeys() const = 0;
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumPutEntities() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  // Milliseconds since the transaction began.
  virtual uint64_t GetElapsedTime() const = 0;

  // The updates themselves. What is changed there is not checked for conflicts.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;

  // Milliseconds to wait for a lock, negative for no limit; and before looking for a deadlock.
  virtual void SetLockTimeout(int64_t timeout_ms) = 0;
  virtual void SetDeadlockTimeout(int64_t timeout_ms) = 0;

  // Options of the commit.
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Takes back a GetForUpdate of a key that was not written since.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // Makes the updates of a batch those of this (empty) transaction, and locks their keys.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;
  // Updates that are written with the commit marker of a prepared transaction.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;

  virtual void SetLogNumber(uint64_t log) { log_number_ = log; }
  virtual uint64_t GetLogNumber() const { return log_number_; }

  // 1 to 512 bytes, unique among the open transactions; before Prepare() and only once.
  virtual Status SetName(const TransactionName& name) = 0;
  virtual TransactionName GetName() const { return name_; }

  virtual TransactionID GetID() const { return 0; }
  virtual bool IsDeadlockDetect() const { return false; }
  // Whom it waits for, and for which key.
  virtual std::vector<TransactionID> GetWaitingTxns(uint32_t* column_family_id,
                                                    std::string* key) const;

  enum TransactionState {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,  // old spelling
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };
  TransactionState GetState() const { return txn_state_; }
  void SetState(TransactionState state) { txn_state_ = state; }

  // The number of a recovered transaction, unique in the process.
  uint64_t GetId() { return id_; }

  // With user timestamps: read no newer than this, and commit with that.
  virtual Status SetReadTimestampForValidation(TxnTimestamp ts);
  virtual Status SetCommitTimestamp(TxnTimestamp ts);
  virtual TxnTimestamp GetCommitTimestamp() const { return kMaxTxnTimestamp; }

 protected:
  explicit Transaction(const TransactionDB* /*db*/) {}
  Transaction() : log_number_(0), txn_state_(STARTED) {}

  virtual void SetId(uint64_t id) { id_ = id; }
  virtual Status GetImpl(const ReadOptions& options, ColumnFamilyHandle* column_family,
                         const Slice& key, std::string* value);
  virtual Status GetImpl(const ReadOptions& options, ColumnFamilyHandle* column_family,
                         const Slice& key, PinnableSlice* pinnable_val);
  virtual uint64_t GetLastLogNumber() const { return log_number_; }

  uint64_t log_number_ = 0;  // the WAL of the prepare section
  TransactionName name_;
  // Set by the owner; read by threads that look whether locks may be taken from it.
  std::atomic<TransactionState> txn_state_{STARTED};
  uint64_t id_ = 0;
};

}  // namespace ashlar
