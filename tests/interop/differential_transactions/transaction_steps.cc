// SPDX-License-Identifier: Apache-2.0
//
// The steps of one transaction.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "program.h"

namespace differential {

Status Program::RollBack(const Slot& slot) {
  if (IsUnprepared() && IsPrepared(slot)) {
    for (const Slot& other : slots_) {
      if (other.transaction != nullptr) other.transaction->ClearSnapshot();
    }
  }
  return slot.transaction->Rollback();
}

void Program::Begin(Slot* slot) {
  const bool is_reused = slot->transaction != nullptr && draw_.OneIn(2);
  if (!is_reused) {
    End(slot);
  } else if (IsPrepared(*slot)) {
    Check(RollBack(*slot));
  }
  Transaction* const old = slot->transaction;
  *slot = Slot();
  const bool with_snapshot = draw_.OneIn(2);
  const rocksdb::WriteOptions write;
  if (is_optimistic_) {
    rocksdb::OptimisticTransactionOptions options;
    options.set_snapshot = with_snapshot;
    slot->transaction = optimistic_->BeginTransaction(write, options, old);
  } else {
    rocksdb::TransactionOptions options;
    options.set_snapshot = with_snapshot;
    options.skip_concurrency_control = draw_.OneIn(24) && IsCommitted();
    if (draw_.OneIn(16)) options.max_write_batch_size = 60;
    slot->keeps_last_batch = draw_.OneIn(2);
    options.use_only_the_last_commit_time_batch_for_recovery = slot->keeps_last_batch;
    slot->expires = draw_.OneIn(8);
    options.skip_prepare = slot->expires || !draw_.OneIn(16);
    if (slot->expires) options.expiration = draw_.OneIn(2) ? 0 : 3'600'000;
    slot->transaction = pessimistic_->BeginTransaction(write, options, old);
  }
  std::printf("begin snapshot %d same %d expires %d\n", with_snapshot, slot->transaction == old,
              slot->expires);
}

void Program::StepTransaction(Slot* slot) {
  const Transaction::TransactionState state = slot->transaction->GetState();
  if (state == Transaction::COMMITTED || state == Transaction::ROLLEDBACK ||
      state == Transaction::AWAITING_COMMIT || draw_.OneIn(9)) {
    return Finish(slot);
  }
  if (state == Transaction::PREPARED) {
    switch (draw_.Below(6)) {
      case 0: return SavePoint(slot);
      case 1: return WriteCommitTimeBatch(slot);
      default: return Read(slot);
    }
  }
  switch (draw_.Below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: return Write(slot);
    case 6:
    case 7:
    case 8:
    case 9: return ReadForUpdate(slot);
    case 10:
    case 11: return Read(slot);
    case 12:
    case 13: return SavePoint(slot);
    case 14: return Other(slot);
    default: return draw_.OneIn(3) ? WriteCommitTimeBatch(slot) : Other(slot);
  }
}

// Others may take more of its keys only when it is gone, see README.md.
void Program::EndStolen() {
  for (Slot& slot : slots_) {
    if (slot.transaction == nullptr || slot.transaction->GetState() != Transaction::LOCKS_STOLEN) {
      continue;
    }
    std::printf("t%d stolen ", static_cast<int>(&slot - slots_.data()));
    const Status status = draw_.OneIn(2) ? slot.transaction->Commit() : slot.transaction->Prepare();
    Tell("end", status, *slot.transaction);
    End(&slot);
  }
}

void Program::Finish(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  switch (draw_.Below(6)) {
    case 0:
    case 1:
    case 2: Commit(slot); break;
    case 3: Tell("rollback", RollBack(*slot), transaction); break;
    case 4:
      if (!slot->has_name && draw_.OneIn(2)) {
        SetName(slot);
      } else {
        Tell("prepare", transaction.Prepare(), transaction);
      }
      break;
    default: Begin(slot);
  }
  if (slot->transaction->GetState() == Transaction::AWAITING_COMMIT) End(slot);
}

void Program::Commit(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  if (!draw_.OneIn(4)) return Tell("commit", transaction.Commit(), transaction);
  const uint64_t timestamp = draw_.OneIn(8) ? rocksdb::kMaxTxnTimestamp : AnyTimestamp();
  std::shared_ptr<const rocksdb::Snapshot> snapshot;
  const Status status = transaction.CommitAndTryCreateSnapshot(nullptr, timestamp, &snapshot);
  // None is due for a commit that has failed, see README.md.
  if (!status.ok()) transaction.ClearSnapshot();
  std::string more = " -";
  if (snapshot != nullptr) {
    newest_timestamp_ = std::max(newest_timestamp_, snapshot->GetTimestamp());
    more =
        " " + std::to_string(snapshot->GetTimestamp()) + " " + Rows(families_[0], snapshot.get());
  }
  Tell("commit with snapshot", status, transaction, std::to_string(timestamp) + more);
}

void Program::SetName(Slot* slot) {
  const std::string name = draw_.OneIn(8) ? "" : "name" + std::to_string(draw_.Below(5));
  const Status status = slot->transaction->SetName(name);
  slot->has_name = slot->has_name || status.ok();
  Tell("name", status, *slot->transaction, slot->transaction->GetName());
}

void Program::Write(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  rocksdb::ColumnFamilyHandle* const family = AnyFamily();
  const std::string key = AnyKey(), value = AnyValue();
  switch (draw_.Below(9)) {
    case 0:
    case 1:
    case 2: return Tell("put", transaction.Put(family, key, value), transaction, key);
    case 3: return Tell("merge", transaction.Merge(family, key, value), transaction, key);
    case 4: return Tell("delete", transaction.Delete(family, key), transaction, key);
    case 5:
      return Tell("put untracked", transaction.PutUntracked(family, key, value), transaction, key);
    case 6:
      return Tell("delete untracked", transaction.DeleteUntracked(family, key), transaction, key);
    case 7:
      return Tell("merge untracked", transaction.MergeUntracked(family, key, value), transaction,
                  key);
    default: {
      if (IsUnprepared() || MayStealTwice()) return Tell("none", Status(), transaction);
      rocksdb::WriteBatch batch;
      Check(batch.Put(family, key, value));
      Check(batch.Delete(AnyFamily(), AnyKey()));
      if (draw_.OneIn(4)) Check(batch.DeleteRange(AnyKey(), AnyKey()));
      return Tell("rebuild", transaction.RebuildFromWriteBatch(&batch), transaction, key);
    }
  }
}

void Program::ReadForUpdate(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  rocksdb::ColumnFamilyHandle* const family = AnyFamily();
  const std::string key = AnyKey();
  rocksdb::ReadOptions read;
  if (draw_.OneIn(3)) read.snapshot = transaction.GetSnapshot();
  std::string value;
  switch (draw_.Below(6)) {
    case 0: {
      const Status status =
          transaction.GetForUpdate(read, family, key, &value, /*exclusive=*/slot->expires);
      return Tell("get shared", status, transaction, key + " " + value);
    }
    case 1: {
      const Status status =
          transaction.GetForUpdate(read, family, key, &value, /*exclusive=*/true, false);
      return Tell("get unvalidated", status, transaction, key + " " + value);
    }
    case 2: {
      if (MayStealTwice()) return Tell("none", Status(), transaction);
      std::vector<std::string> values;
      const std::vector<std::string> keys{key, AnyKey()};
      std::vector<Status> statuses = transaction.MultiGetForUpdate(
          read, {family, families_[0]}, {Slice(keys[0]), Slice(keys[1])}, &values);
      values.resize(2);
      return Tell(
          "multiget", statuses[0], transaction,
          keys[0] + " " + keys[1] + " " + Show(statuses[1]) + " " + values[0] + " " + values[1]);
    }
    case 3:
      transaction.UndoGetForUpdate(family, key);
      return Tell("undo", Status(), transaction, key);
    default: {
      const Status status = transaction.GetForUpdate(read, family, key, &value);
      return Tell("get for update", status, transaction, key + " " + value);
    }
  }
}

void Program::Read(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  rocksdb::ColumnFamilyHandle* const family = AnyFamily();
  rocksdb::ReadOptions read;
  if (IsUnprepared() && (IsPrepared(*slot) || slot->has_unindexed)) {
    return Tell("none", Status(), transaction);
  }
  if (draw_.OneIn(3)) read.snapshot = transaction.GetSnapshot();
  if (draw_.OneIn(2)) {
    const std::string key = AnyKey();
    std::string value;
    const Status status = transaction.Get(read, family, key, &value);
    return Tell("get", status, transaction, key + " " + value);
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(transaction.GetIterator(read, family));
  std::string seen;
  if (draw_.OneIn(2)) {
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) seen += Row(*iterator);
  } else {
    for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) seen += Row(*iterator);
  }
  Tell("scan", iterator->status(), transaction, seen);
}

void Program::SavePoint(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  switch (draw_.Below(4)) {
    case 0:
      if (IsUnprepared() && IsPrepared(*slot)) return Tell("none", Status(), transaction);
      if (slot->has_unindexed) return Tell("none", Status(), transaction);
      return Tell("rollback to savepoint", transaction.RollbackToSavePoint(), transaction);
    case 1:
      if (IsUnprepared() && IsPrepared(*slot)) return Tell("none", Status(), transaction);
      return Tell("pop savepoint", transaction.PopSavePoint(), transaction);
    default: transaction.SetSavePoint(); return Tell("savepoint", Status(), transaction);
  }
}

void Program::Other(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  switch (draw_.Below(6)) {
    case 0: transaction.SetSnapshot(); break;
    case 1: transaction.ClearSnapshot(); break;
    case 2:
      // Taken by the write or cancelled: no commit meets one that is due, and no read one that
      // replaces its own.
      transaction.ClearSnapshot();
      transaction.SetSnapshotOnNextOperation();
      Write(slot);
      if (transaction.GetSnapshot() == nullptr) transaction.ClearSnapshot();
      break;
    case 3:
      if (policy_ != rocksdb::WRITE_COMMITTED) break;
      transaction.DisableIndexing();
      Write(slot);
      transaction.EnableIndexing();
      slot->has_unindexed = true;
      break;
    case 4: {
      const uint64_t timestamp = AnyTimestamp();
      return Tell("commit timestamp", transaction.SetCommitTimestamp(timestamp), transaction,
                  std::to_string(timestamp));
    }
    default: return SetName(slot);
  }
  Tell("set", Status(), transaction, transaction.GetSnapshot() == nullptr ? "-" : "snapshot");
}

// Its keys are used by nobody else: nothing locks them. For the policies that have one key, see
// README.md.
void Program::WriteCommitTimeBatch(Slot* slot) {
  Transaction& transaction = *slot->transaction;
  const bool may_write =
      IsCommitted() ? IsPrepared(*slot) || !slot->expires
                    : slot->keeps_last_batch && IsPrepared(*slot) && !slot->has_commit_time;
  if (!may_write) return Tell("none", Status(), transaction);
  slot->has_commit_time = true;
  const std::string key = IsCommitted() ? "c" + std::to_string(draw_.Below(3)) : "c";
  const Status status = draw_.OneIn(4)
                            ? transaction.GetCommitTimeWriteBatch()->Delete(key)
                            : transaction.GetCommitTimeWriteBatch()->Put(key, AnyValue());
  Tell("commit-time", status, transaction, key);
}

}  // namespace differential
