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

void WalSet::Install(std::unique_ptr<WalSink> next, SequenceNumber first_seqno) {
  std::shared_ptr<WalSink> sealed;
  {
    MutexLock lock(&mutex_);
    if (!logs_.empty()) sealed = logs_.back().sink;
    logs_.push_back({std::move(next), first_seqno});
    active_ = logs_.back().sink.get();
  }
  if (sealed != nullptr) sealed->Seal();
}

void WalSet::AddRecovered(const LogFacts& log) {
  MutexLock lock(&mutex_);
  recovered_[log.number] = log;
}

std::vector<LogFacts> WalSet::DurableFacts() const {
  MutexLock lock(&mutex_);
  std::vector<LogFacts> facts;
  for (const auto& [number, log] : recovered_) facts.push_back(log);
  for (const auto& [sink, first_seqno] : logs_) {
    if (sink->log_number() > newest_durable_entry_) break;
    const bool is_closed = sink != logs_.back().sink && sink->error().ok();
    facts.push_back({.number = sink->log_number(),
                     .first_seqno = first_seqno,
                     .synced_bytes = sink->synced_size(),
                     .end_bytes = is_closed ? sink->size() : 0});
  }
  return facts;
}

std::shared_ptr<WalSink> WalSet::current() const {
  MutexLock lock(&mutex_);
  return logs_.back().sink;
}

// Syncs one after the other, so that what is durable is always a prefix.
Status WalSet::SyncOlderThan(uint64_t number) {
  std::vector<std::shared_ptr<WalSink>> older;
  {
    MutexLock lock(&mutex_);
    for (const auto& [log, first_seqno] : logs_) {
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
  NoteEntriesSynced(number);
  return Status::OK();
}

void WalSet::NoteEntriesSynced(uint64_t log_number) {
  MutexLock lock(&mutex_);
  newest_durable_entry_ = std::max(newest_durable_entry_, log_number);
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
  std::vector<Log> logs;
  {
    MutexLock lock(&mutex_);
    logs = std::exchange(logs_, {});
    active_ = nullptr;
  }
  Status first;
  for (const auto& [log, first_seqno] : logs) {
    Status status = log->Close();
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

std::vector<uint64_t> WalSet::ReleaseBelow(uint64_t min_log_number) {
  std::vector<Log> released;  // closed without the mutex
  std::vector<uint64_t> numbers;
  {
    MutexLock lock(&mutex_);
    while (logs_.size() > 1 && logs_.front().sink->log_number() < min_log_number) {
      released.push_back(std::move(logs_.front()));
      logs_.erase(logs_.begin());
    }
    const auto keep_recovered = recovered_.lower_bound(min_log_number);
    for (auto it = recovered_.begin(); it != keep_recovered; ++it) numbers.push_back(it->first);
    recovered_.erase(recovered_.begin(), keep_recovered);
  }
  for (const Log& log : released) numbers.push_back(log.sink->log_number());
  return numbers;
}

uint64_t WalSet::current_number() const {
  MutexLock lock(&mutex_);
  return logs_.empty() ? 0 : logs_.back().sink->log_number();
}

uint64_t WalSet::current_bytes() const {
  MutexLock lock(&mutex_);
  return logs_.empty() ? 0 : logs_.back().sink->size();
}

uint64_t WalSet::total_bytes() const {
  MutexLock lock(&mutex_);
  uint64_t bytes = 0;
  for (const Log& log : logs_) bytes += log.sink->size();
  for (const auto& [number, log] : recovered_) bytes += log.end_bytes;
  return bytes;
}

std::vector<WalSet::Info> WalSet::List() const {
  MutexLock lock(&mutex_);
  std::vector<Info> list;
  for (const auto& [number, log] : recovered_) list.push_back({number, log.end_bytes, false});
  for (const auto& [log, first_seqno] : logs_) {
    list.push_back({log->log_number(), log->size(), log == logs_.back().sink});
  }
  return list;
}

}  // namespace ashlar
