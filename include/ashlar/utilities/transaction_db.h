// SPDX-License-Identifier: Apache-2.0
//
// TransactionDB is a database with transactions that lock the keys that they write. Opening it is
// NotSupported so far.
//
// Threads: as for DB. Writes outside of transactions lock their keys too.
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

// When the data of a transaction is written to the memtables.
enum TxnDBWritePolicy {
  WRITE_COMMITTED = 0,   // at commit
  WRITE_PREPARED = 1,    // at prepare
  WRITE_UNPREPARED = 2,  // as the transaction writes it
};

// Number of deadlocks that are remembered by default.
constexpr uint32_t kInitialMaxDeadlocks = 5;

// A lock manager, which several databases can share.
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

// Parameters of a lock manager that locks ranges.
class ASHLAR_EXPORT RangeLockManagerHandle : public LockManagerHandle {
 public:
  // Sets the maximum memory for locks in bytes. Returns 0 on success.
  virtual int SetMaxLockMemory(size_t max_lock_memory) = 0;
  virtual size_t GetMaxLockMemory() = 0;

  using RangeLockStatus = std::unordered_multimap<ColumnFamilyId, RangeLockInfo>;
  using EscalationBarrierFunc = std::function<bool(const Endpoint& a, const Endpoint& b)>;
  // If the function returns true for two keys, locks on both sides of them are not joined into one.
  virtual void SetEscalationBarrierFunc(EscalationBarrierFunc func) = 0;
  using IsKilledCallback = std::function<bool()>;
  virtual void SetIsKilledCallback(IsKilledCallback func) = 0;
  virtual RangeLockStatus GetRangeLockStatusData() = 0;

  class Counters {
   public:
    uint64_t escalation_count;
    uint64_t lock_wait_count;
    uint64_t current_lock_memory;  // bytes
  };
  virtual Counters GetStatus() = 0;

  virtual std::vector<RangeDeadlockPath> GetRangeDeadlockInfoBuffer() = 0;
  virtual void SetRangeDeadlockInfoBufferSize(uint32_t target_size) = 0;
};

// Creates a lock manager for ranges. Null so far.
ASHLAR_EXPORT RangeLockManagerHandle* NewRangeLockManager(
    std::shared_ptr<TransactionDBMutexFactory> mutex_factory);

// Options of the database.
struct TransactionDBOptions {
  // Maximum number of locked keys per column family; -1 = no limit.
  int64_t max_num_locks = -1;
  // Number of deadlocks that GetDeadlockInfoBuffer() returns.
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;
  // Number of parts of a family's lock table; each part has its own mutex.
  size_t num_stripes = 16;
  // Milliseconds to wait for a lock: in transactions, and in writes outside of them. Negative = no
  // limit; 0 = do not wait.
  int64_t transaction_lock_timeout = 1000;
  int64_t default_lock_timeout = 1000;
  // Creates mutexes; nullptr = those of the standard library.
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;
  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;
  bool rollback_merge_operands = false;
  // The lock manager; nullptr = one that locks keys.
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;
  bool use_per_key_point_lock_mgr = false;
  // Do not lock: the program itself makes sure that transactions do not conflict.
  bool skip_concurrency_control = false;
  // For write-unprepared transactions: number of bytes after which updates are written; 0 = no
  // limit.
  int64_t default_write_batch_flush_threshold = 0;
  // Whether a rollback removes a key with SingleDelete() (true) or with Delete().
  std::function<bool(TransactionDB* /*db*/, ColumnFamilyHandle* /*column_family*/,
                     const Slice& /*key*/)>
      rollback_deletion_type_callback;
  bool enable_udt_validation = true;
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;
  uint32_t txn_commit_bypass_memtable_threshold = std::numeric_limits<uint32_t>::max();
};

// Options of one transaction.
struct TransactionOptions {
  // Take the snapshot for conflict checks when the transaction begins.
  bool set_snapshot = false;
  // Search for deadlocks instead of waiting for the timeout.
  bool deadlock_detect = false;
  bool use_only_the_last_commit_time_batch_for_recovery = false;
  // Milliseconds to wait for a lock; -1 = transaction_lock_timeout of the database.
  int64_t lock_timeout = -1;
  // Microseconds to wait for a lock before a deadlock is searched for.
  int64_t deadlock_timeout_us = 500;
  // Milliseconds after which other transactions may take the locks and a commit fails; -1 = never.
  int64_t expiration = -1;
  // Maximum number of transactions that the search for a deadlock visits.
  int64_t deadlock_detect_depth = 50;
  // Maximum size of the updates in bytes; 0 = no limit.
  size_t max_write_batch_size = 0;
  bool skip_concurrency_control = false;
  // If false, Commit() without Prepare() is an error.
  bool skip_prepare = true;
  // -1 = default_write_batch_flush_threshold of the database.
  int64_t write_batch_flush_threshold = -1;
  bool write_batch_track_timestamp_size = false;
  bool commit_bypass_memtable = false;
  uint32_t large_txn_commit_optimize_threshold = 0;
  uint64_t large_txn_commit_optimize_byte_threshold = 0;
};

// Checks that a write outside of transactions may skip.
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

  // Opens a database, like DB::Open(). The caller deletes the result.
  static Status Open(const Options& options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr);

  // The two halves of Open(), for databases that are opened in a different way: PrepareWrap()
  // changes the options; WrapDB() and WrapStackableDB() take over the open database.
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

  // Begins a new transaction, or uses old_txn again, which must have ended. The caller deletes the
  // result.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  // Returns nullptr if there is no transaction with this name.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Returns the transactions that were prepared before the database was opened and are neither
  // committed nor rolled back.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // Return the locks by number of the family, and the latest deadlocks.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() = 0;
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // Snapshots that have a timestamp of the program's own.
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
  // Returns the snapshots with timestamps in [ts_lb, ts_ub).
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const = 0;

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace ashlar
