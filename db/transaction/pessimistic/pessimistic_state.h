// SPDX-License-Identifier: Apache-2.0
//
// What a TransactionDB shares with its transactions: locks, names, timestamped snapshots.
//
// It outlives all of them. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "ashlar/utilities/transaction_db.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/pessimistic/timestamped_snapshots.h"
#include "db/transaction/pessimistic/transaction_registry.h"
#include "db/write/write_batch_internal.h"

namespace ashlar {

class DBImpl;

// A number that no other transaction or lock owner of the process has. Hot: a counter of the
// thread's own.
TransactionID NewTransactionId();

struct PessimisticState {
  PessimisticState(DBImpl* impl, const TransactionDBOptions& db_options);
  ~PessimisticState();

  DBImpl* const db;                 // the engine
  TransactionDB* facade = nullptr;  // for calls of the program; set before the first transaction
  // The options that the program gave to Open() or WrapDB(), unchanged.
  const TransactionDBOptions options;
  const bool allows_prepare;  // DBOptions::allow_2pc
  using Policy = WriteBatchInternal::PreparePolicy;
  // When the data of a transaction goes to the memtables: at commit, at prepare, or before.
  const Policy policy;
  // The policies write-prepared and write-unprepared.
  bool writes_before_commit() const { return policy != Policy::kWriteCommitted; }
  const std::unique_ptr<LockClock> clock;
  const std::shared_ptr<KeyLocks> locks;  // its own, or those of options.lock_mgr_handle
  // All transactions, and the names of those that have one.
  TransactionRegistry registry;
  TimestampedSnapshots snapshots;
  // The wrapper is being destroyed, and with it `db`.
  std::atomic<bool> is_ending{false};
  // The database is closed or is being closed: a transaction that is prepared leaves nothing
  // behind.
  bool IsClosing() const;

  // A snapshot of the newest state, with a timestamp, in the map and for the caller.
  std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(TxnTimestamp ts);
};

}  // namespace ashlar
