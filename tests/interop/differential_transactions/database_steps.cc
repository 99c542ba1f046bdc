// SPDX-License-Identifier: Apache-2.0
//
// The steps of the database itself.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "program.h"

namespace differential {

std::string Program::Row(const rocksdb::Iterator& iterator) const {
  const std::string key = iterator.key().ToString();
  if (hides_commit_time_ && key[0] == 'c') return "";
  return key + "=" + iterator.value().ToString() + " ";
}

std::string Program::Rows(rocksdb::ColumnFamilyHandle* family, const rocksdb::Snapshot* snapshot) {
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read, family));
  std::string seen;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) seen += Row(*iterator);
  Check(iterator->status());
  return seen;
}

void Program::StepDatabase() {
  const rocksdb::WriteOptions write;
  rocksdb::ColumnFamilyHandle* const family = AnyFamily();
  const std::string key = AnyKey(), value = AnyValue();
  switch (draw_.Below(14)) {
    case 0:
    case 1:
    case 2: return TellOfDatabase("put", db_->Put(write, family, key, value), key);
    case 3: return TellOfDatabase("delete", db_->Delete(write, family, key), key);
    case 4: return TellOfDatabase("merge", db_->Merge(write, family, key, value), key);
    case 5: {
      if (MayStealTwice()) break;
      rocksdb::WriteBatch batch;
      Check(batch.Put(family, key, value));
      const std::string other = AnyKey();
      Check(batch.Put(families_[0], other, value));
      if (draw_.OneIn(6)) Check(batch.DeleteRange(families_[0], "a", "b"));
      return TellOfDatabase("write", db_->Write(write, &batch), key + " " + other);
    }
    case 6: return TellOfDatabase("delete range", db_->DeleteRange(write, family, "a", "b"));
    case 7: return TellOfDatabase("flush", db_->Flush(rocksdb::FlushOptions(), family));
    case 8:
      if (!draw_.OneIn(3)) break;
      return TellOfDatabase(
          "compact", db_->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr));
    case 9:
      if (pessimistic_ == nullptr) break;
      return ShowLocks();
    case 10:
      if (pessimistic_ == nullptr) break;
      return ShowPrepared();
    case 11:
      if (!IsCommitted()) break;
      return StepTimestampedSnapshots();
    case 12:
      if (!draw_.OneIn(4)) break;
      return Reopen();
    default: break;
  }
  if (draw_.OneIn(3)) return TellOfDatabase("rows", Status(), Rows(family, nullptr));
  std::string found;
  const Status status = db_->Get(rocksdb::ReadOptions(), family, key, &found);
  TellOfDatabase("get", status, key + " " + found);
}

void Program::ShowLocks() {
  std::vector<std::string> lines;
  for (const auto& [id, lock] : pessimistic_->GetLockStatusData()) {
    lines.push_back(std::to_string(id) + lock.key + (lock.exclusive ? "x" : "s") +
                    std::to_string(lock.ids.size()));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + " ";
  TellOfDatabase("locks", Status(), all);
}

void Program::ShowPrepared() {
  std::vector<Transaction*> prepared;
  pessimistic_->GetAllPreparedTransactions(&prepared);
  std::vector<std::string> names;
  for (Transaction* transaction : prepared) names.push_back(transaction->GetName());
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + " ";
  TellOfDatabase("prepared", Status(), all);
}

void Program::StepTimestampedSnapshots() {
  const uint64_t timestamp = draw_.OneIn(8) ? rocksdb::kMaxTxnTimestamp : AnyTimestamp();
  const auto text = [this](const std::shared_ptr<const rocksdb::Snapshot>& snapshot) {
    if (snapshot == nullptr) return std::string("-");
    return std::to_string(snapshot->GetTimestamp()) + " " + Rows(families_[0], snapshot.get());
  };
  switch (draw_.Below(5)) {
    case 0:
    case 1: {
      const auto [status, snapshot] = pessimistic_->CreateTimestampedSnapshot(timestamp);
      if (snapshot != nullptr) {
        newest_timestamp_ = std::max(newest_timestamp_, snapshot->GetTimestamp());
      }
      return TellOfDatabase("create snapshot", status,
                            std::to_string(timestamp) + " " + text(snapshot));
    }
    case 2:
      return TellOfDatabase(
          "snapshot", Status(),
          std::to_string(timestamp) + " " + text(pessimistic_->GetTimestampedSnapshot(timestamp)));
    case 3: {
      std::vector<std::shared_ptr<const rocksdb::Snapshot>> snapshots;
      const uint64_t other = AnyTimestamp();
      const Status status = pessimistic_->GetTimestampedSnapshots(other, timestamp, snapshots);
      std::string all;
      for (const auto& snapshot : snapshots) all += text(snapshot);
      return TellOfDatabase("snapshots", status,
                            std::to_string(other) + " " + std::to_string(timestamp) + " " + all);
    }
    default:
      pessimistic_->ReleaseTimestampedSnapshotsOlderThan(timestamp);
      return TellOfDatabase("release snapshots", Status(), std::to_string(timestamp));
  }
}

}  // namespace differential
