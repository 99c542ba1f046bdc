// SPDX-License-Identifier: Apache-2.0
//
// The list of logs under a mutex that is never held during I/O.
#include "db/wal/wal_set.h"

#include <algorithm>
#include <utility>

#include "env/file_util.h"
#include "env/filename.h"

namespace ashlar {

WalSet::WalSet() = default;
WalSet::~WalSet() = default;

void WalSet::Configure(const WalSinkOptions& options, const std::string& wal_dir) {
  options_ = options;
  wal_dir_ = wal_dir;
}

Result<std::unique_ptr<WalSink>> WalSet::Create(uint64_t number) const {
  WalSinkOptions options = options_;
  options.log_number = number;
  options.path = LogFileName(wal_dir_, number);
  return OpenWalSink(options);
}

void WalSet::Install(std::unique_ptr<WalSink> next) {
  std::shared_ptr<WalSink> sealed;
  {
    MutexLock lock(&mutex_);
    if (!logs_.empty()) sealed = logs_.back();
    active_ = next.get();
    logs_.push_back(std::move(next));
  }
  if (sealed != nullptr) sealed->Seal();
}

void WalSet::AddRecovered(uint64_t number, uint64_t bytes) {
  MutexLock lock(&mutex_);
  recovered_[number] = bytes;
}

std::shared_ptr<WalSink> WalSet::current() const {
  MutexLock lock(&mutex_);
  return logs_.back();
}

// Syncs one after the other, so that what is durable is always a prefix.
Status WalSet::SyncOlderThan(uint64_t number) {
  std::vector<std::shared_ptr<WalSink>> older;
  {
    MutexLock lock(&mutex_);
    for (const auto& log : logs_) {
      if (log->log_number() < number && log->synced_size() < log->size()) older.push_back(log);
    }
  }
  for (const auto& log : older) RETURN_IF_ERROR(log->Sync(log->size()));
  return Status::OK();
}

Status WalSet::SyncThrough(const std::shared_ptr<WalSink>& log, uint64_t end) {
  RETURN_IF_ERROR(SyncOlderThan(log->log_number()));
  RETURN_IF_ERROR(SyncDirectoryFor(log->log_number()));
  return log->Sync(end);
}

// The entry of a log must survive before any of its bytes count as durable.
Status WalSet::SyncDirectoryFor(uint64_t number) {
  {
    MutexLock lock(&mutex_);
    if (number <= newest_durable_entry_) return Status::OK();
  }
  RETURN_IF_ERROR(SyncDirectory(options_.fs, wal_dir_));
  MutexLock lock(&mutex_);
  newest_durable_entry_ = std::max(newest_durable_entry_, number);
  return Status::OK();
}

Status WalSet::SyncAll() {
  const std::shared_ptr<WalSink> log = current();
  const uint64_t end = log->size();
  RETURN_IF_ERROR(log->Flush(end));
  return SyncThrough(log, end);
}

Status WalSet::SyncSealed() {
  const uint64_t number = current_number();
  RETURN_IF_ERROR(SyncOlderThan(number));
  return SyncDirectoryFor(number - 1);
}

Status WalSet::Flush() {
  const std::shared_ptr<WalSink> log = current();
  return log->Flush(log->size());
}

Status WalSet::Close() {
  std::vector<std::shared_ptr<WalSink>> logs;
  {
    MutexLock lock(&mutex_);
    logs = std::exchange(logs_, {});
    active_ = nullptr;
  }
  Status first;
  for (const auto& log : logs) {
    Status status = log->Close();
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

std::vector<uint64_t> WalSet::ReleaseBelow(uint64_t min_log_number) {
  std::vector<std::shared_ptr<WalSink>> released;
  std::vector<uint64_t> numbers;
  {
    MutexLock lock(&mutex_);
    while (logs_.size() > 1 && logs_.front()->log_number() < min_log_number) {
      released.push_back(std::move(logs_.front()));
      logs_.erase(logs_.begin());
    }
    const auto keep_recovered = recovered_.lower_bound(min_log_number);
    for (auto it = recovered_.begin(); it != keep_recovered; ++it) numbers.push_back(it->first);
    recovered_.erase(recovered_.begin(), keep_recovered);
  }
  for (const auto& log : released) numbers.push_back(log->log_number());
  return numbers;
}

uint64_t WalSet::current_number() const {
  MutexLock lock(&mutex_);
  return logs_.empty() ? 0 : logs_.back()->log_number();
}

uint64_t WalSet::current_bytes() const {
  MutexLock lock(&mutex_);
  return logs_.empty() ? 0 : logs_.back()->size();
}

uint64_t WalSet::total_bytes() const {
  MutexLock lock(&mutex_);
  uint64_t bytes = 0;
  for (const auto& log : logs_) bytes += log->size();
  for (const auto& [number, size] : recovered_) bytes += size;
  return bytes;
}

std::vector<WalSet::Info> WalSet::List() const {
  MutexLock lock(&mutex_);
  std::vector<Info> list;
  for (const auto& [number, size] : recovered_) list.push_back({number, size, false});
  for (const auto& log : logs_) {
    list.push_back({log->log_number(), log->size(), log == logs_.back()});
  }
  return list;
}

}  // namespace ashlar
