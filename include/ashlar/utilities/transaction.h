// SPDX-License-Identifier: Apache-2.0
//
// Transaction collects updates. Its own reads see them at once; all other readers see them after
// Commit(), either all or none. Transactions are created by TransactionDB, which locks keys when
// they are written, or by OptimisticTransactionDB, which checks for conflicts at commit. The caller
// deletes them; deleting an active transaction rolls it back. Not built yet: neither kind of
// database can be opened.
//
// Statuses besides those of reads and writes:
//   Busy, Busy(kDeadlock), TimedOut(kLockTimeout), Aborted(kLockLimit)   a conflict, or a lock
//   could not be taken
//   TryAgain   the memtables do not reach back far enough to tell whether there is a conflict
//   Expired    TransactionOptions::expiration has passed
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

// The end of a locked range: a key or, if inf_suffix is true, all keys that begin with it.
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

// Notified when SetSnapshotOnNextOperation() has taken its snapshot, in the thread that writes.
class ASHLAR_EXPORT TransactionNotifier {
 public:
  virtual ~TransactionNotifier() {}
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

// A set of updates that are committed or rolled back together.
class ASHLAR_EXPORT Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction() {}

  // From now on, a key that has been written by others since this call is a conflict. This does not
  // change what Get() returns: for that, set ReadOptions::snapshot to GetSnapshot().
  virtual void SetSnapshot() = 0;
  // The same, beginning with the next write or GetForUpdate().
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // The snapshot for conflict checks; nullptr if there is none. Valid until the next SetSnapshot()
  // or ClearSnapshot(), or until the transaction ends.
  virtual const Snapshot* GetSnapshot() const = 0;
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  virtual void ClearSnapshot() = 0;

  // First phase of a two-phase commit: writes the updates to the WAL. The transaction must have a
  // name.
  virtual Status Prepare() = 0;
  virtual Status Commit() = 0;
  // Commits and takes a snapshot in which the transaction is visible.
  Status CommitAndTryCreateSnapshot(
      std::shared_ptr<TransactionNotifier> notifier = std::shared_ptr<TransactionNotifier>(),
      TxnTimestamp ts = kMaxTxnTimestamp, std::shared_ptr<const Snapshot>* snapshot = nullptr);
  // Drops all updates and releases all locks.
  virtual Status Rollback() = 0;

  // Save points form a stack. Rolling back to one also releases the locks that were taken since.
  // NotFound if there is none.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Read the updates of this transaction together with the database.
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

  // The same; in addition, the key is locked (shared if `exclusive` is false) and counts as written
  // for conflict checks. If do_validate is true, the key must not have changed since the snapshot.
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

  // Iterate over the updates of this transaction together with the database. Valid until the
  // transaction ends.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;
  virtual std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Writes. If assume_tracked is true, the key is locked already and nothing is checked.
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

  // The same without conflict checks. A TransactionDB still locks the keys.
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

  // Adds data for readers of the WAL.
  virtual void PutLogData(const Slice& blob) = 0;

  // From DisableIndexing() to EnableIndexing(), reads of this transaction do not see its updates,
  // which makes the updates cheaper.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // Numbers of updates so far.
  virtual uint64_t GetNumKeys() const = 0;
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumPutEntities() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  // Milliseconds since the transaction began.
  virtual uint64_t GetElapsedTime() const = 0;

  // The updates. Changes that are made there are not checked for conflicts.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;

  // Milliseconds to wait for a lock (negative = no limit), and to wait before a deadlock is
  // searched for.
  virtual void SetLockTimeout(int64_t timeout_ms) = 0;
  virtual void SetDeadlockTimeout(int64_t timeout_ms) = 0;

  // The options with which the commit is written.
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Undoes GetForUpdate() of a key that has not been written since.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // Adds the updates of a batch to this transaction, which must be empty, and locks their keys.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;
  // Updates that are written together with the commit marker of a prepared transaction.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;

  virtual void SetLogNumber(uint64_t log) { log_number_ = log; }
  virtual uint64_t GetLogNumber() const { return log_number_; }

  // Sets the name: 1 to 512 bytes, unique among the open transactions. May be called once, before
  // Prepare().
  virtual Status SetName(const TransactionName& name) = 0;
  virtual TransactionName GetName() const { return name_; }

  virtual TransactionID GetID() const { return 0; }
  virtual bool IsDeadlockDetect() const { return false; }
  // The transactions that this one waits for, and the family and key that it waits for.
  virtual std::vector<TransactionID> GetWaitingTxns(uint32_t* column_family_id,
                                                    std::string* key) const;

  enum TransactionState {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,  // spelling of older releases
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };
  TransactionState GetState() const { return txn_state_; }
  void SetState(TransactionState state) { txn_state_ = state; }

  // The number of the transaction, unique in the process.
  uint64_t GetId() { return id_; }

  // With user timestamps: the timestamp up to which it reads, and the timestamp of the commit.
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

  uint64_t log_number_ = 0;  // number of the WAL that contains the prepared updates
  TransactionName name_;
  // Written by the owner; read by threads that check whether they may take its locks.
  std::atomic<TransactionState> txn_state_{STARTED};
  uint64_t id_ = 0;
};

}  // namespace ashlar
