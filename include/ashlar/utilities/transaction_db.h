// SPDX-License-Identifier: Apache-2.0
//
// TransactionDB is a database with transactions that lock the keys that they use. A transaction
// that needs a key of another one waits for it; the waits for one key end in their order. Locks are
// kept in memory.
//
//   TransactionDB* db = nullptr;
//   Status s = TransactionDB::Open(options, TransactionDBOptions(), path, &db);
//   std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
//   s = txn->Put("key", "value");
//   if (s.ok()) s = txn->Commit();
//
// Writes of the database itself lock their keys until the write is visible, and wait for locks up
// to default_lock_timeout. The keys of a batch are locked in a fixed order, so that two batches
// cannot deadlock. DeleteRange() is NotSupported, and a batch with DeleteRange is InvalidArgument,
// because the keys of a range cannot be locked. Ingested files count as writes of their keys.
//
// The property "ashlar.transactions" describes the open and prepared transactions and the locks.
//
// Threads: as for DB.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/utilities/stackable_db.h"
#include "ashlar/utilities/transaction.h"

namespace ashlar {

class LockManager;
class SecondaryIndex;
class TransactionDBMutexFactory;

// When the data of a transaction is written to the log and to the memtables, where it is hidden
// from others until the commit. While transactions are undecided the policy cannot change: Open()
// is NotSupported then.
enum TxnDBWritePolicy {
  WRITE_COMMITTED = 0,   // at commit
  WRITE_PREPARED = 1,    // at prepare
  WRITE_UNPREPARED = 2,  // each time its batch exceeds write_batch_flush_threshold, and at prepare
};

// Number of deadlocks that are remembered by default.
constexpr uint32_t kInitialMaxDeadlocks = 5;

// A lock manager of one database, which a program makes to have access to its settings.
class ASHLAR_EXPORT LockManagerHandle {
 public:
  virtual ~LockManagerHandle() {}
  virtual LockManager* getLockManager() = 0;
};

// The same as Endpoint, but owns its bytes.
struct EndpointWithString {
  std::string slice;
  bool inf_suffix;
};

// One transaction in a deadlock of range locks: which lock it waits for.
struct RangeDeadlockInfo {
  TransactionID m_txn_id;
  uint32_t m_cf_id;
  bool m_exclusive;
  EndpointWithString m_start;
  EndpointWithString m_end;
};

// A deadlock of range locks.
struct RangeDeadlockPath {
  std::vector<RangeDeadlockInfo> path;
  bool limit_exceeded;
  int64_t deadlock_time;  // seconds since 1970

  explicit RangeDeadlockPath(std::vector<RangeDeadlockInfo> path_entry, const int64_t& dl_time)
      : path(std::move(path_entry)), limit_exceeded(false), deadlock_time(dl_time) {}
  // limit: the search was given up because it had reached its limit.
  explicit RangeDeadlockPath(const int64_t& dl_time = 0, bool limit = false)
      : path(0), limit_exceeded(limit), deadlock_time(dl_time) {}
  bool empty() { return path.empty() && !limit_exceeded; }
};

// A range lock and the transactions that hold it.
struct RangeLockInfo {
  EndpointWithString start;
  EndpointWithString end;
  std::vector<TransactionID> ids;
  bool exclusive;
};

// A lock manager that locks ranges of keys; a lock of a single key is a range of one key.
// Transaction::GetRangeLock() locks [start, end], both included. An end with inf_suffix is behind
// all keys that begin with its bytes; without, it is before them. For families with a reversed
// order the caller swaps the ends. Snapshots are not checked for ranges: read the newest data after
// locking. Expired transactions keep their ranges. Threads: any, at any time.
class ASHLAR_EXPORT RangeLockManagerHandle : public LockManagerHandle {
 public:
  // Sets the maximum memory for locks in bytes; 64 MB by default. A lock that would need more makes
  // the manager join neighbouring ranges of the same transaction, with the keys between them; if
  // that is not enough it fails with Aborted(kLockLimit). Returns 0, or an error number if more is
  // in use already.
  virtual int SetMaxLockMemory(size_t max_lock_memory) = 0;
  virtual size_t GetMaxLockMemory() = 0;

  using RangeLockStatus = std::unordered_multimap<ColumnFamilyId, RangeLockInfo>;
  using EscalationBarrierFunc = std::function<bool(const Endpoint& a, const Endpoint& b)>;
  // Called with the end of a range and the start of the next one: true = they are not joined. Runs
  // with the manager's mutex held: must be short and not call the manager.
  virtual void SetEscalationBarrierFunc(EscalationBarrierFunc func) = 0;
  using IsKilledCallback = std::function<bool()>;
  // Called by each waiting thread every 100 milliseconds: true ends its wait with Aborted.
  virtual void SetIsKilledCallback(IsKilledCallback func) = 0;
  // All ranges that are held, by number of the family; one entry for each range of a transaction.
  virtual RangeLockStatus GetRangeLockStatusData() = 0;

  class Counters {
   public:
    uint64_t escalation_count;     // how often ranges were joined because memory was short
    uint64_t lock_wait_count;      // requests that had to wait
    uint64_t current_lock_memory;  // bytes
  };
  virtual Counters GetStatus() = 0;

  // The latest deadlocks, newest first, 10 by default; the last transaction of a path is the
  // victim. GetDeadlockInfoBuffer() of the database is empty with this manager. Size 0 keeps none.
  virtual std::vector<RangeDeadlockPath> GetRangeDeadlockInfoBuffer() = 0;
  virtual void SetRangeDeadlockInfoBufferSize(uint32_t target_size) = 0;
};

// Creates a lock manager for ranges, for TransactionDBOptions::lock_mgr_handle. All waits use the
// mutexes and condition variables of `mutex_factory`; null = the library waits by itself. The
// caller owns the result, usually through a std::shared_ptr.
ASHLAR_EXPORT RangeLockManagerHandle* NewRangeLockManager(
    std::shared_ptr<TransactionDBMutexFactory> mutex_factory);

// Options of the database.
struct TransactionDBOptions {
  // Maximum number of locked keys per column family; <= 0 = no limit.
  int64_t max_num_locks = -1;
  // Number of deadlocks that GetDeadlockInfoBuffer() returns.
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;
  // Minimum number of parts of the lock table, each with its own lock; 0 counts as 1.
  size_t num_stripes = 16;
  // Milliseconds to wait for a lock: in transactions that do not set it themselves, and in writes
  // outside of transactions. Negative = no limit; 0 = do not wait.
  int64_t transaction_lock_timeout = 1000;
  int64_t default_lock_timeout = 1000;
  // All waits for locks use its mutexes and condition variables; null = the library waits by
  // itself.
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;
  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;
  // For WRITE_PREPARED: whether the rollback of a prepared transaction undoes merge operands of
  // keys that the transaction has only merged. Otherwise they stay. WRITE_UNPREPARED undoes them in
  // any case.
  bool rollback_merge_operands = false;
  // The lock manager, which no other open database uses: that of NewRangeLockManager(), or null =
  // one that locks single keys. max_num_locks, max_num_deadlocks, num_stripes and
  // custom_mutex_factory are for the latter.
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;
  // No effect: each key always has its own queue.
  bool use_per_key_point_lock_mgr = false;
  // Do not lock and do not check: the program itself makes sure that transactions do not conflict.
  bool skip_concurrency_control = false;
  // For WRITE_UNPREPARED: when the batch of a transaction has more bytes than that, the next update
  // writes it out first. The transaction needs a name then (SetName()): else that update is
  // InvalidArgument. 0 or less = no limit.
  int64_t default_write_batch_flush_threshold = 0;
  // No effect with WRITE_COMMITTED. Otherwise: whether the rollback of what a transaction has
  // written removes a key that was absent before with SingleDelete() (true) or with Delete().
  // Called by the thread that rolls back.
  std::function<bool(TransactionDB* /*db*/, ColumnFamilyHandle* /*column_family*/,
                     const Slice& /*key*/)>
      rollback_deletion_type_callback;
  // No effect: column families with user timestamps are refused.
  bool enable_udt_validation = true;
  // NotSupported unless empty.
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;
  // No effect.
  uint32_t txn_commit_bypass_memtable_threshold = std::numeric_limits<uint32_t>::max();
};

// Options of one transaction.
struct TransactionOptions {
  // Take the snapshot for conflict checks when the transaction begins.
  bool set_snapshot = false;
  // Search for deadlocks instead of waiting for the timeout; the call that finds one fails with
  // Busy.
  bool deadlock_detect = false;
  // No effect with WRITE_COMMITTED.
  bool use_only_the_last_commit_time_batch_for_recovery = false;
  // Milliseconds to wait for a lock; 0 = do not wait; negative = transaction_lock_timeout of the
  // database.
  int64_t lock_timeout = -1;
  // Microseconds to wait for a lock before a deadlock is searched for; 0 = search at once.
  int64_t deadlock_timeout_us = 500;
  // Milliseconds after the begin after which other transactions may take the locks, and Prepare()
  // and Commit() fail with Expired; negative = never. A prepared transaction does not expire.
  int64_t expiration = -1;
  // Maximum number of transactions that the search for a deadlock visits; if it is exceeded, a
  // deadlock is assumed.
  int64_t deadlock_detect_depth = 50;
  // Maximum size of the updates as a write batch, in bytes; 0 = no limit.
  size_t max_write_batch_size = 0;
  // Do not lock and do not check.
  bool skip_concurrency_control = false;
  // If false, Commit() without Prepare() is an error.
  bool skip_prepare = true;
  // For WRITE_UNPREPARED. Less than 0 = default_write_batch_flush_threshold of the database.
  int64_t write_batch_flush_threshold = -1;
  // No effect, like the members after it.
  bool write_batch_track_timestamp_size = false;
  bool commit_bypass_memtable = false;
  uint32_t large_txn_commit_optimize_threshold = 0;
  uint64_t large_txn_commit_optimize_byte_threshold = 0;
};

// What a write outside of transactions may skip: locking its keys (a batch may then contain
// DeleteRange); the second member has no effect with WRITE_COMMITTED.
struct TransactionDBWriteOptimizations {
  bool skip_concurrency_control = false;
  bool skip_duplicate_key_check = false;
};

// A locked key and the transactions that hold the lock.
struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;
  bool exclusive;
};

// One transaction in a deadlock: which lock it waits for.
struct DeadlockInfo {
  TransactionID m_txn_id;
  uint32_t m_cf_id;
  bool m_exclusive;
  std::string m_waiting_key;
};

// A deadlock.
struct DeadlockPath {
  std::vector<DeadlockInfo> path;
  bool limit_exceeded;
  int64_t deadlock_time;  // seconds since 1970

  explicit DeadlockPath(std::vector<DeadlockInfo> path_entry, const int64_t& dl_time)
      : path(std::move(path_entry)), limit_exceeded(false), deadlock_time(dl_time) {}
  explicit DeadlockPath(const int64_t& dl_time = 0, bool limit = false)
      : path(0), limit_exceeded(limit), deadlock_time(dl_time) {}
  bool empty() { return path.empty() && !limit_exceeded; }
};

// A database with transactions that take locks.
class ASHLAR_EXPORT TransactionDB : public StackableDB {
 public:
  using StackableDB::Write;
  virtual Status Write(const WriteOptions& opts,
                       const TransactionDBWriteOptimizations& /*optimizations*/,
                       WriteBatch* updates) {
    return Write(opts, updates);
  }

  // Opens a database, like DB::Open(). The caller deletes the result. Transactions that were
  // prepared and not decided exist again, with their locks. NotSupported for options that are not
  // built, with DBOptions::unordered_write, and for column families with
  // ColumnFamilyOptions::inplace_update_support: a value that is overwritten in its place keeps its
  // sequence number, so a check for conflicts cannot see the write. InvalidArgument if
  // lock_mgr_handle has no lock manager.
  static Status Open(const Options& options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr);

  // The two halves of Open(), for databases that are opened in a different way. PrepareWrap()
  // allows two-phase commit and switches automatic compactions off; it returns the positions of the
  // column families that had them. WrapDB() and WrapStackableDB() take over the open database (and
  // close it if they fail), and switch compactions on again; `handles` have the order of that list.
  // The database at the end of the chain must be one of this library. They refuse what Open()
  // refuses, and so does the creation of a column family later.
  static void PrepareWrap(DBOptions* db_options,
                          std::vector<ColumnFamilyDescriptor>* column_families,
                          std::vector<size_t>* compaction_enabled_cf_indices);
  static Status WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                       const std::vector<size_t>& compaction_enabled_cf_indices,
                       const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** dbptr);
  static Status WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                const std::vector<size_t>& compaction_enabled_cf_indices,
                                const std::vector<ColumnFamilyHandle*>& handles,
                                TransactionDB** dbptr);
  ~TransactionDB() override {}

  // Begins a new transaction, or begins old_txn of the same database again, which reuses its
  // memory. The caller deletes the result. write_options are used by its prepare, commit and
  // rollback.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  // Returns null if there is no transaction with this name. A transaction that was prepared before
  // the database was opened, or whose object was deleted after Prepare(), belongs to the database
  // until it is committed or rolled back; after that the caller deletes it.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Returns the transactions that are prepared and neither committed nor rolled back.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // Return the locks by number of the column family, and the latest deadlocks, newest first. A path
  // lists the transactions such that each waits for the next one; the last one is the transaction
  // that was refused. SetDeadlockInfoBufferSize(0) removes all deadlocks and stores no more.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() = 0;
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // Snapshots that have a timestamp of the program, which must grow with each snapshot. The
  // database keeps each until it is released. InvalidArgument for kMaxTxnTimestamp, and for a
  // timestamp that is not above that of the newest snapshot; if it is equal and nothing was written
  // since, that snapshot is returned. GetTimestampedSnapshot() returns null if there is none with
  // this timestamp; kMaxTxnTimestamp = the newest.
  virtual std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp ts) = 0;
  std::shared_ptr<const Snapshot> GetLatestTimestampedSnapshot() const {
    return GetTimestampedSnapshot(kMaxTxnTimestamp);
  }
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const = 0;
  virtual void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) = 0;
  Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const {
    return GetTimestampedSnapshots(/*ts_lb=*/0, /*ts_ub=*/kMaxTxnTimestamp, timestamped_snapshots);
  }
  // Returns the snapshots with timestamps in [ts_lb, ts_ub), ascending. InvalidArgument if ts_lb >=
  // ts_ub.
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const = 0;

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace ashlar
