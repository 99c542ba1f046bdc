// SPDX-License-Identifier: Apache-2.0
//
// Numbers of owners, the settings of the lock table, snapshots with timestamps.
#include "db/transaction/pessimistic/pessimistic_state.h"

#include <cassert>

#include "db/db_impl.h"

namespace ashlar {

TransactionID NewTransactionId() {
  // A thread takes 1024 numbers at once, so threads rarely write to the shared counter. Numbers of
  // a thread that ends are lost, which does not matter: there are 2^64.
  constexpr TransactionID kIdsAtOnce = 1024;
  static std::atomic<TransactionID> next_block{1};
  thread_local TransactionID next = 0, end = 0;
  if (next == end) [[unlikely]] {
    next = next_block.fetch_add(kIdsAtOnce, std::memory_order_relaxed);
    end = next + kIdsAtOnce;
  }
  assert(next < end);
  return next++;
}

namespace {

KeyLocksOptions LockOptions(const TransactionDBOptions& options, LockClock* clock,
                            const DBImpl* db) {
  assert(clock != nullptr && db != nullptr);
  KeyLocksOptions result;
  // Called for messages only, so the name is looked up when it is needed.
  result.family_name = [db](uint32_t family) { return db->NameOfFamily(family); };
  result.min_shards = options.num_stripes;
  result.max_locks_per_family = options.max_num_locks;
  result.max_deadlocks = options.max_num_deadlocks;
  result.mutex_factory = options.custom_mutex_factory;
  result.clock = clock;
  return result;
}

// The locks of a handle belong to the handle, so the pointer keeps the handle alive.
std::shared_ptr<KeyLocks> MakeLocks(const TransactionDBOptions& options, LockClock* clock,
                                    const DBImpl* db) {
  if (options.lock_mgr_handle == nullptr) return NewPointLocks(LockOptions(options, clock, db));
  return {options.lock_mgr_handle, options.lock_mgr_handle->getLockManager()};
}

PessimisticState::Policy PolicyOf(TxnDBWritePolicy policy) {
  switch (policy) {
    case WRITE_PREPARED: return PessimisticState::Policy::kWritePrepared;
    case WRITE_UNPREPARED: return PessimisticState::Policy::kWriteUnprepared;
    default: return PessimisticState::Policy::kWriteCommitted;
  }
}

}  // namespace

PessimisticState::PessimisticState(DBImpl* impl, const TransactionDBOptions& db_options)
    : db(impl),
      options(db_options),
      allows_prepare(impl->GetDBOptions().allow_2pc),
      policy(PolicyOf(db_options.write_policy)),
      clock(NewLockClock(impl->clock())),
      locks(MakeLocks(db_options, clock.get(), impl)) {}

PessimisticState::~PessimisticState() = default;

bool PessimisticState::IsClosing() const {
  return is_ending.load(std::memory_order_acquire) || db->is_closed();
}

std::pair<Status, std::shared_ptr<const Snapshot>> PessimisticState::CreateTimestampedSnapshot(
    TxnTimestamp ts) {
  if (writes_before_commit()) {
    return {Status::NotSupported("timestamped snapshots: only with the policy WRITE_COMMITTED"),
            nullptr};
  }
  if (ts == kMaxTxnTimestamp) {
    return {Status::InvalidArgument("timestamped snapshot: needs a timestamp below the greatest"),
            nullptr};
  }
  // The map calls this only if the timestamp is acceptable, so no snapshot is taken in vain.
  return snapshots.Create(ts, db->GetLatestSequenceNumber(), [&] {
    DBImpl* const owner = db;
    const Snapshot* const taken = owner->GetSnapshotWithTimestamp(ts);
    if (taken == nullptr) return std::shared_ptr<const Snapshot>();
    return std::shared_ptr<const Snapshot>(
        // The engine must outlive the snapshot.
        taken, [owner](const Snapshot* released) { owner->ReleaseSnapshot(released); });
  });
}

}  // namespace ashlar
