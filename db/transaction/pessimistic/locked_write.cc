// SPDX-License-Identifier: Apache-2.0
//
// The keys of a batch are locked in one order.
#include "db/transaction/pessimistic/locked_write.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/result.h"

namespace ashlar {
namespace {

// The keys of the batch without duplicates, sorted by family and bytes. All writes of the database
// lock in this order, so no two of them can wait for each other in a circle. The slices refer to
// the bytes of the batch.
std::vector<std::pair<uint32_t, Slice>> KeysInOrder(const WriteBatch& batch) {
  std::vector<std::pair<uint32_t, Slice>> keys;
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.IsCounted()) keys.emplace_back(record.family, record.key);
  }
  const auto before = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.compare(b.second) < 0;
  };
  std::sort(keys.begin(), keys.end(), before);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

LockedWrite::LockedWrite(const PessimisticState& state)
    : LockOwner(NewTransactionId()), locks_(state.locks.get()) {
  const int64_t millis = state.options.default_lock_timeout;
  // The option has milliseconds, the owner of locks microseconds; negative means no limit in both.
  lock_timeout_micros = millis < 0 ? -1 : std::min(millis, INT64_MAX / 1000) * 1000;
}

// All writers lock in the same order, by family and key, so that two such writes cannot wait for
// each other in a cycle. After an error the locks that were taken stay with the owner, which
// releases them.
Status LockedWrite::LockAll(const WriteBatch& batch, std::unique_ptr<KeyLock[]>* key_locks) {
  if (batch.HasDeleteRange()) {
    return Status::InvalidArgument(
        "TransactionDB::Write: a batch with DeleteRange, whose keys cannot be locked; see "
        "TransactionDBWriteOptimizations");
  }
  const std::vector<std::pair<uint32_t, Slice>> keys = KeysInOrder(batch);
  // Held in an array, because the lock table keeps pointers to the locks, which must not move.
  assert(key_locks != nullptr);
  *key_locks = std::make_unique<KeyLock[]>(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    // The bytes of the key stay those of the batch, which the caller keeps until the locks are
    // released.
    (*key_locks)[i].Set(keys[i].first, keys[i].second);
    RETURN_IF_ERROR(Lock(&(*key_locks)[i]));
  }
  return Status::OK();
}

}  // namespace ashlar
