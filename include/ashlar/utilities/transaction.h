// SPDX-License-Identifier: Apache-2.0
//
// Transaction collects updates. Its own reads see them at once; all other readers see them after
// Commit(), either all or none. Transactions are created by TransactionDB, which locks keys when
// they are used, or by OptimisticTransactionDB, which checks for conflicts at commit. The caller
// deletes a transaction before the database. Deleting one that was not committed drops its updates,
// except for a prepared transaction (see Prepare()).
//
// A null ColumnFamilyHandle stands for the default column family; calls with wide columns refuse it
// with InvalidArgument. Column families with user timestamps are NotSupported.
//
// Statuses of the calls that use a key, besides those of reads and writes:
//
//   - TimedOut(kLockTimeout): another transaction holds the lock and did not release it in time.
//   - TimedOut(kMutexTimeout): a mutex of TransactionDBOptions::custom_mutex_factory was not
//     available in time.
//   - Busy(kDeadlock): the wait for the lock would have closed a cycle.
//   - Busy: the key was written after the snapshot; from Commit() of an optimistic transaction:
//     after the transaction had used the key.
//   - Aborted(kLockLimit): TransactionDBOptions::max_num_locks is reached.
//   - Aborted(kMemoryLimit): TransactionOptions::max_write_batch_size is reached; the key stays
//     locked.
//   - Expired: other transactions have taken the locks after TransactionOptions::expiration.
//   - InvalidArgument: the transaction is prepared or has ended, or the column family was dropped.
//
// After TimedOut or Busy the transaction is as it was before the call. The caller can repeat the
// call, or roll back and begin again.
//
// Threads: one at a time per transaction, except for GetState(), GetID() and GetWaitingTxns().
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

// Notified when SetSnapshotOnNextOperation() has taken its snapshot, in the thread that took it and
// before the call of that thread returns. The function must not use the transaction.
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

  // Takes a snapshot for conflict checks. From now on, it is a conflict if another transaction
  // writes a key after this call and before this transaction uses the key. Keys that this
  // transaction used before remain valid. This does not change what Get() returns: for that, set
  // ReadOptions::snapshot to GetSnapshot().
  virtual void SetSnapshot() = 0;
  // The same at the next write or GetForUpdate(), after the call has taken its lock or failed to.
  // In a TransactionDB it is also taken by a commit that has a commit timestamp; without a
  // timestamp such a commit is InvalidArgument. `notifier` may be null.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // The snapshot for conflict checks; null if there is none. Valid until the next SetSnapshot(),
  // ClearSnapshot() or RollbackToSavePoint(), or until the transaction begins again or is deleted.
  virtual const Snapshot* GetSnapshot() const = 0;
  // The same snapshot. It may outlive the transaction, but not the database.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  // Releases the snapshot and cancels SetSnapshotOnNextOperation().
  virtual void ClearSnapshot() = 0;

  // First phase of a two-phase commit: writes the updates to the WAL, also if
  // WriteOptions::disableWAL is set. A prepared transaction survives crashes and the deletion of
  // its object: TransactionDB::GetTransactionByName() finds it until it is committed or rolled
  // back. Under the policy write-committed the transaction may go on: later updates are logged
  // with the commit, and lost by a crash before it; under the others they are InvalidArgument.
  // InvalidArgument without a name or in a state other than STARTED; Expired after the expiration.
  // If the write fails, the state is STARTED again. Optimistic transactions: InvalidArgument.
  virtual Status Prepare() = 0;
  // Makes all updates visible and releases all locks. If the write fails, a prepared transaction is
  // still prepared; any other transaction has lost its updates and locks, and its object (state
  // AWAITING_COMMIT) can only be deleted or passed to BeginTransaction(); but a write-unprepared
  // one that has written parts is STARTED as before, and can be committed again. InvalidArgument in
  // states other than STARTED and PREPARED, and for updates in GetCommitTimeWriteBatch() without
  // Prepare(). Expired after the expiration, unless the transaction is prepared.
  // InvalidArgument(kTxnNotPrepared) without Prepare() if TransactionOptions::skip_prepare is
  // false. Optimistic transactions: Busy if there is a conflict, and again at each further call
  // until Rollback(); after a successful commit the object is empty and can be used again.
  virtual Status Commit() = 0;
  // Commits and takes a snapshot in which the transaction is visible, with the commit timestamp as
  // its timestamp. `ts` is the commit timestamp unless one is set already; InvalidArgument if there
  // is none, or if the two differ. OK means that the transaction is committed: *snapshot can still
  // be null, if the timestamp is not above that of the newest snapshot. `notifier` and `snapshot`
  // may be null.
  Status CommitAndTryCreateSnapshot(
      std::shared_ptr<TransactionNotifier> notifier = std::shared_ptr<TransactionNotifier>(),
      TxnTimestamp ts = kMaxTxnTimestamp, std::shared_ptr<const Snapshot>* snapshot = nullptr);
  // Drops all updates and releases all locks. A transaction that was not prepared stays STARTED and
  // can be used again. It keeps its name, its snapshot (call SetSnapshot() for a new one) and its
  // expiration, which is counted from its begin. If others have taken its locks after the
  // expiration, the state stays LOCKS_STOLEN, and the object can only be deleted or passed to
  // BeginTransaction(). A prepared transaction becomes ROLLEDBACK, or stays PREPARED if the write
  // fails. InvalidArgument if the transaction was committed, if a commit without Prepare() has
  // failed, or if it was prepared and rolled back. Always OK for optimistic transactions.
  virtual Status Rollback() = 0;

  // Save points form a stack. Rolling back to one restores updates, counters and snapshot, and
  // releases the locks of keys that were first used since then. PopSavePoint() removes the latest
  // save point and changes nothing else. NotFound if there is none. Prepare() forgets all of them.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Read the updates of this transaction together with the database, as of ReadOptions::snapshot or
  // now. These calls take no locks, and a commit does not check what they have read. Lists of
  // column families are as long as the lists of keys.
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

  // The same; in addition the key is locked (shared if `exclusive` is false), and an optimistic
  // commit checks it like a written key. A key that does not exist is NotFound and is locked. If
  // the value or the columns are null, the key is only locked. If do_validate is false, the key may
  // have changed since the snapshot; this together with ReadOptions::snapshot is InvalidArgument.
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
  // Locks are exclusive. If a lock cannot be taken, all statuses are its error, all values are
  // empty, and the keys that were locked before it stay locked.
  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                                const std::vector<Slice>& keys,
                                                std::vector<std::string>* values) = 0;
  // Locks all keys from the start to the end, both included. NotSupported by lock managers that
  // lock single keys.
  virtual Status GetRangeLock(ColumnFamilyHandle* column_family, const Endpoint& start_endp,
                              const Endpoint& end_endp);

  // Iterate over the updates of this transaction together with the database. The caller deletes the
  // iterators. The transaction may write while they are open; see
  // WriteBatchWithIndex::NewIteratorWithBase(). After Commit(), Rollback(), or a
  // RollbackToSavePoint() that removed updates, they are not valid and their status is
  // InvalidArgument. InvalidArgument without column families, or with different comparators.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;
  virtual std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Writes. Each locks the key exclusively, checks that the key has not changed since the snapshot,
  // and adds the update. assume_tracked = true: the caller states that the transaction has used the
  // key before, so no check is made; InvalidArgument if it has not.
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

  // The same without conflict checks: a TransactionDB only locks the key, and an optimistic commit
  // does not check it.
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

  // Reads a key for update and replaces its merge operands by the result. Errors as of
  // GetForUpdate() and Put(). Optimistic transactions: NotSupported.
  virtual Status CollapseKey(const ReadOptions& options, const Slice& key,
                             ColumnFamilyHandle* column_family = nullptr);

  // Adds data for readers of the WAL. No read of the database returns it.
  virtual void PutLogData(const Slice& blob) = 0;

  // From DisableIndexing() to EnableIndexing(), reads of this transaction do not see its updates,
  // which makes the updates cheaper.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // Numbers of keys that the transaction uses, and of updates so far. SingleDelete counts as a
  // delete.
  virtual uint64_t GetNumKeys() const = 0;
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumPutEntities() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  // Milliseconds since the transaction began.
  virtual uint64_t GetElapsedTime() const = 0;

  // The updates. Updates that are added there directly are neither locked nor checked.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;

  // For the calls that follow: milliseconds to wait for a lock (0 = do not wait, negative = no
  // limit), and to wait before a deadlock is searched for. No effect in optimistic transactions.
  virtual void SetLockTimeout(int64_t timeout_ms) = 0;
  virtual void SetDeadlockTimeout(int64_t timeout_ms) = 0;

  // The options with which prepare, commit and rollback are written.
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Undoes one GetForUpdate() of a key. When all are undone and the key was not written, the key is
  // unlocked and is not checked. Has no effect if the key was not read since the latest save point.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // Repeats the updates of a batch as writes of this transaction, up to the first error.
  // InvalidArgument for DeleteRange, for markers of two-phase commit, and for column families that
  // do not exist.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;
  // Updates that are written together with the commit marker of a prepared transaction, before its
  // other updates. They are neither locked nor checked.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;

  // The number of the WAL that contains the prepared updates; 0 = not prepared.
  virtual void SetLogNumber(uint64_t log) { log_number_ = log; }
  virtual uint64_t GetLogNumber() const { return log_number_; }

  // Sets the name: 1 to 512 bytes, unique among the transactions of the database, once, before
  // Prepare(). InvalidArgument otherwise, and by optimistic transactions. A commit frees the name.
  virtual Status SetName(const TransactionName& name) = 0;
  virtual TransactionName GetName() const { return name_; }

  // The owner of the locks: unique in the process, and new whenever the transaction begins again. 0
  // for optimistic transactions.
  virtual TransactionID GetID() const { return 0; }
  virtual bool IsDeadlockDetect() const { return false; }
  // The transactions whose locks this one waits for in another thread, with the column family and
  // key; or those of the latest wait, if it timed out. Both pointers may be null.
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
  // Optimistic transactions are always STARTED.
  TransactionState GetState() const { return txn_state_; }
  void SetState(TransactionState state) { txn_state_ = state; }

  // The first sequence number of the updates, after the commit; 0 before it.
  uint64_t GetId() { return id_; }

  // Timestamps of the program. The read timestamp may not decrease, and the commit timestamp must
  // be above it: InvalidArgument otherwise. Optimistic transactions: NotSupported.
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
