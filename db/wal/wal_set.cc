// SPDX-License-Identifier: Apache-2.0
//
// The list of logs is guarded by a mutex that is never held during I/O.
#include "db/wal/wal_set.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "db/wal/log_beginning.h"
#include "db/wal/wal_compression.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/invariants.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

WalSet::WalSet() = default;
WalSet::~WalSet() = default;

// Checks that log numbers ascend: syncing or releasing logs by number then always covers a prefix
// of what was written.
Status WalSet::CheckOrderLocked() const {
  FileNumber last;
  if (!recovered_.empty()) last = recovered_.rbegin()->first;
  if (!replaced_.empty()) last = std::max(last, replaced_.back().number);
  for (const Log& log : logs_) {
    if (log.sink->log_number() <= last) {
      return Status::Corruption(StrCat("log ", log.sink->log_number(), " is behind log ", last));
    }
    last = log.sink->log_number();
  }
  return Status::OK();
}

void WalSet::Configure(const WalSetOptions& options) {
  assert(options.log.fs != nullptr);
  assert(!options.wal_dir.empty());
  assert(active_ == nullptr);
  options_ = options.log;
  wal_dir_ = options.wal_dir;
  describes_predecessors_ = options.describes_predecessors;
  records_timestamp_sizes_ = options.records_timestamp_sizes;
  if (options.compresses) compressors_ = std::make_unique<WalCompressors>();
  options_.compressors = compressors_.get();
  options_.is_recyclable = options.max_recycled_logs > 0;
  recycler_.Configure(options.log.fs, options.wal_dir, options.max_recycled_logs);
  SetBuffering(options.log.buffer_bytes, options.log.bytes_per_sync);
}

// While a log is being installed, the log before it has its noted end, and the records of the next
// log are being written; that log gets the size once it is the current one.
void WalSet::AddTimestampSize(const TimestampSize& size) {
  assert(size.bytes != 0);
  MutexLock lock(&mutex_);
  timestamp_sizes_.push_back(size);
  if (!sizes_of_next_.has_value()) AddSizesLocked(timestamp_sizes_.size() - 1);
}

// Adds the sizes from this index on to the current log. The records do not count as batches.
void WalSet::AddSizesLocked(size_t first) {
  assert(first <= timestamp_sizes_.size());
  if (logs_.empty()) return;
  Log& current = logs_.back();
  const bool has_batches = current.sink->size() > current.begin;
  const std::span<const TimestampSize> sizes(timestamp_sizes_);
  IgnoreError(WriteSizes(sizes.subspan(first), current.sink.get()),
              "a log with an error gets no batches any more");
  // The log still counts as empty, so that the next switch can keep it.
  if (!has_batches) current.begin = current.sink->size();
}

Status WalSet::WriteSizes(std::span<const TimestampSize> sizes, WalSink* log) const {
  constexpr size_t kSizesInRecord = 4096;  // a record of this kind fits into one block
  if (!records_timestamp_sizes_) return Status::OK();
  for (; !sizes.empty(); sizes = sizes.subspan(std::min(kSizesInRecord, sizes.size()))) {
    const auto part = sizes.first(std::min(kSizesInRecord, sizes.size()));
    RETURN_IF_ERROR(
        log->AddSpecialRecord(LogRecordType::kTimestampSizes,
                              EncodeTimestampSizes(std::vector(part.begin(), part.end()))));
  }
  return Status::OK();
}

// Written before the first batch of a log that is being installed.
Status WalSet::WriteTimestampSizes(WalSink* next) const {
  std::vector<TimestampSize> sizes;
  {
    // A copy, because writing it is I/O, which must not happen under the mutex.
    MutexLock lock(&mutex_);
    assert(sizes_of_next_.has_value());
    const auto end = timestamp_sizes_.begin() + static_cast<ptrdiff_t>(*sizes_of_next_);
    sizes.assign(timestamp_sizes_.begin(), end);
  }
  return WriteSizes(sizes, next);
}

// Sizes that were added since the installation began go to the log that is current now: the next
// one or, after an error, still the one before.
void WalSet::EndInstall() {
  MutexLock lock(&mutex_);
  assert(sizes_of_next_.has_value());
  const size_t first = *sizes_of_next_;
  sizes_of_next_.reset();
  AddSizesLocked(first);
}

void WalSet::SetBuffering(size_t buffer_bytes, uint64_t bytes_per_sync) {
  assert(buffer_bytes > 0);
  // Relaxed: only logs that are created later use the new sizes.
  buffer_bytes_.store(buffer_bytes, std::memory_order_relaxed);
  bytes_per_sync_.store(bytes_per_sync, std::memory_order_relaxed);
}

// The options for a log that is created now.
WalSinkOptions WalSet::OptionsOf(FileNumber number) const {
  assert(number > 0);
  assert(options_.fs != nullptr);
  WalSinkOptions options = options_;
  options.buffer_bytes = buffer_bytes_.load(std::memory_order_relaxed);
  options.bytes_per_sync = bytes_per_sync_.load(std::memory_order_relaxed);
  assert(!wal_dir_.empty());
  options.log_number = number;
  options.path = LogFileName(wal_dir_, number);
  options.sync_count = &sync_count_;
  return options;
}

// `const` because it only makes a file; Install() changes the set.
Result<std::unique_ptr<WalSink>> WalSet::Create(FileNumber number) const {
  return Open(OptionsOf(number));
}

// Reuses an old file if there is one. If that fails, a new file may still work. A new file whose
// creation failed half-way, for example because its space could not be allocated, is deleted again:
// each attempt has a new number, and nothing else knows the file.
Result<std::unique_ptr<WalSink>> WalSet::Open(WalSinkOptions options) const {
  assert(options.recycle_path.empty());
  while (const std::optional<FileNumber> old = recycler_.Take()) {
    const ScopeExit done([&] { recycler_.Done(*old); });
    options.recycle_path = LogFileName(wal_dir_, *old);
    auto sink = OpenWalSink(options);
    if (sink.ok()) return sink;
    // The recycled file may be damaged; it is given up and the next one is tried.
    IgnoreError(DeleteFileIfExists(options_.fs, options.recycle_path),
                "it is obsolete: the next open deletes it");
    options.recycle_path.clear();
  }
  auto sink = OpenWalSink(options);
  if (!sink.ok()) {
    IgnoreError(DeleteFileIfExists(options_.fs, options.path),
                "an empty log that stays is deleted by the next open");
  }
  return sink;
}

Result<std::unique_ptr<WalSink>> WalSet::CreateAhead(FileNumber number) const {
  WalSinkOptions options = OptionsOf(number);
  // The current log is the best guess of how long the next one will be.
  options.expected_bytes = BytesFrom(current_number());
  return Open(options);
}

Status WalSet::Install(std::unique_ptr<WalSink> next, SequenceNumber first_seqno,
                       SequenceNumber last_logged_seqno) {
  assert(next != nullptr);
  assert(next->log_number() > 0);
  Log sealed;
  {
    MutexLock lock(&mutex_);
    // A copy of the last log: the list may change as soon as the mutex is free.
    if (!logs_.empty()) sealed = logs_.back();
    sizes_of_next_ = timestamp_sizes_.size();
  }
  const ScopeExit end_install([this] { EndInstall(); });
  if (sealed.sink != nullptr) {
    // A size may have been added since the caller flushed the logs. After an error the next commit
    // meets it, too.
    RETURN_IF_ERROR(sealed.sink->Flush(sealed.sink->size()));
    RETURN_IF_ERROR(WriteBeginning(next.get(), first_seqno, sealed, last_logged_seqno));
  } else {
    RETURN_IF_ERROR(WriteTimestampSizes(next.get()));
  }
  {
    MutexLock lock(&mutex_);
    assert(logs_.empty() || logs_.back().first_seqno <= first_seqno);
    const uint64_t begin = next->size();
    const bool has_beginning = sealed.sink != nullptr;
    logs_.push_back({std::move(next), first_seqno, begin, has_beginning});
    // Commits read this pointer under the lock of the pipeline, which is paused now.
    active_ = logs_.back().sink.get();
    if constexpr (kChecksInvariants) StopUnless(CheckOrderLocked());
  }
  if (sealed.sink != nullptr) sealed.sink->Seal();
  return Status::OK();
}

// The sequence number of the last batch in the log before, 0 if it has none. The record at the
// beginning of a log counts as a batch, with the first sequence number of the log; so does the
// record that says where replay stopped.
SequenceNumber WalSet::LastBatchOf(const Log& sealed, SequenceNumber last_logged_seqno) {
  assert(sealed.sink != nullptr);
  if (sealed.sink->size() > sealed.begin) return std::max(last_logged_seqno, sealed.first_seqno);
  return sealed.has_beginning ? sealed.first_seqno : 0;
}

// The log before must be delivered completely, because the record names its end.
Status WalSet::WriteBeginning(WalSink* next, SequenceNumber first_seqno, const Log& sealed,
                              SequenceNumber last_logged_seqno) const {
  assert(next != nullptr);
  const WalSink& before = *sealed.sink;
  assert(before.log_number() < next->log_number());
  assert(before.delivered_size() == before.size());
  if (describes_predecessors_) {
    const PredecessorWalInfo info{.log_number = before.log_number(),
                                  .size_bytes = before.size(),
                                  .last_seqno = LastBatchOf(sealed, last_logged_seqno)};
    RETURN_IF_ERROR(
        next->AddSpecialRecord(LogRecordType::kPredecessorInfo, EncodePredecessorInfo(info)));
  }
  RETURN_IF_ERROR(WriteTimestampSizes(next));
  return next->AddRecord(
      EncodeLogBeginning(first_seqno, {.number = before.log_number(), .end_bytes = before.size()}));
}

// All steps are under the mutex. A thread that finds the new log alone in the set waits only for a
// sync of that log, and this is right only if no log was abandoned without its replacement.
//
// An older log was delivered completely. Before the first log with an error, all that it holds was
// inserted, so it is an ordinary obsolete log once it is not needed any more. It is abandoned, too,
// because none of its bytes may count as durable from here on.
std::vector<std::shared_ptr<WalSink>> WalSet::ReplaceAll(std::unique_ptr<WalSink> next,
                                                         SequenceNumber first_seqno,
                                                         const Status& error) {
  assert(!error.ok());
  assert(next != nullptr);
  assert(next->log_number() > 0);
  {
    MutexLock lock(&mutex_);
    sizes_of_next_ = timestamp_sizes_.size();
  }
  const ScopeExit end_install([this] { EndInstall(); });
  IgnoreError(WriteTimestampSizes(next.get()), "the first write returns the error of the new log");
  std::vector<std::shared_ptr<WalSink>> left;
  MutexLock lock(&mutex_);
  bool is_intact = true;  // this log, and all before it
  for (Log& log : logs_) {
    const FileNumber number = log.sink->log_number();
    assert(replaced_.empty() || replaced_.back().number < number);
    const bool has_entry = number <= newest_durable_entry_ || log.sink->CheckEntry().ok();
    is_intact = is_intact && &log != &logs_.back() && has_entry && log.sink->error().ok();
    log.sink->Abandon(error);
    // What the file has up to the delivered size is known; bytes behind it may or may not be there.
    const uint64_t bytes = log.sink->delivered_size();
    replaced_.push_back({.number = number, .bytes = bytes, .has_failed = !is_intact});
    if (!is_intact) failed_ends_[number] = bytes;
    left.push_back(std::move(log.sink));
  }
  logs_.clear();
  const uint64_t begin = next->size();
  logs_.push_back({std::move(next), first_seqno, begin, /*has_beginning=*/false});
  active_ = logs_.back().sink.get();
  if constexpr (kChecksInvariants) StopUnless(CheckOrderLocked());
  return left;
}

void WalSet::AddRecovered(const LogSummary& log) {
  assert(log.number > 0);
  assert(log.synced_bytes <= log.end_bytes);
  MutexLock lock(&mutex_);
  recovered_[log.number] = log;
  if constexpr (kChecksInvariants) StopUnless(CheckOrderLocked());
}

// A log without a durable directory entry may disappear in a crash, so the MANIFEST must not name
// it.
std::vector<LogSummary> WalSet::DurableSummaries() const {
  MutexLock lock(&mutex_);
  std::vector<LogSummary> facts;
  for (const auto& [number, log] : recovered_) facts.push_back(log);
  for (const auto& [sink, first_seqno, begin, has_beginning] : logs_) {
    // The list ascends, so the rest of it has no durable entry either.
    if (sink->log_number() > newest_durable_entry_) break;
    const bool is_closed = sink != logs_.back().sink && sink->error().ok();
    // The record at the beginning is not a batch, and the ends in the MANIFEST are ends of batches.
    const uint64_t without_batch = has_beginning ? 0 : begin;
    const auto end_of_batches = [without_batch](uint64_t bytes) {
      return bytes > without_batch ? bytes : 0;
    };
    facts.push_back({.number = sink->log_number(),
                     .first_seqno = first_seqno,
                     .synced_bytes = end_of_batches(sink->synced_size()),
                     .end_bytes = is_closed ? end_of_batches(sink->size()) : 0});
  }
  return facts;
}

std::shared_ptr<WalSink> WalSet::current() const {
  MutexLock lock(&mutex_);
  assert(!logs_.empty());
  return logs_.back().sink;
}

// Syncs the logs one after the other, so that the durable bytes are always a prefix.
Status WalSet::SyncOlderThan(FileNumber number) {
  std::vector<std::shared_ptr<WalSink>> older;
  {
    // References keep the logs alive while they are synced without the mutex.
    MutexLock lock(&mutex_);
    for (const auto& [log, first_seqno, begin, has_beginning] : logs_) {
      if (log->log_number() < number && log->synced_size() < log->size()) older.push_back(log);
    }
  }
  for (const auto& log : older) RETURN_IF_ERROR(log->Sync(log->size()));
  return Status::OK();
}

// The older logs and the directory are synced once per log; see settled_.
Status WalSet::SyncThrough(const std::shared_ptr<WalSink>& log, uint64_t end) {
  assert(log != nullptr);
  assert(end <= log->size());
  const FileNumber number = log->log_number();
  // Relaxed would not do: whoever sees the number must see that the older logs are synced.
  if (settled_.load(std::memory_order_acquire) != number.value()) {
    RETURN_IF_ERROR(SyncOlderThan(number));
    RETURN_IF_ERROR(SyncDirectoryFor(number));
    settled_.store(number.value(), std::memory_order_release);
  }
  return log->Sync(end);
}

// The directory entry of a log, and those of the logs before it, must be durable before any bytes
// of the log count as durable.
Status WalSet::SyncDirectoryFor(FileNumber number) {
  assert(!wal_dir_.empty());
  {
    MutexLock lock(&mutex_);
    if (number <= newest_durable_entry_) return Status::OK();
    RETURN_IF_ERROR(CheckEntriesLocked(number));
  }
  RETURN_IF_ERROR(SyncDirectory(options_.fs, wal_dir_));
  NoteEntriesSynced(number);
  MutexLock lock(&mutex_);
  return CheckEntriesLocked(number);
}

void WalSet::NoteEntriesSynced(FileNumber log_number) {
  MutexLock lock(&mutex_);
  assert(logs_.empty() || log_number <= logs_.back().sink->log_number());
  if (!CheckEntriesLocked(log_number).ok()) return;
  newest_durable_entry_ = std::max(newest_durable_entry_, log_number);
}

// Returns an error if a log up to `last`, whose entry is not known to be durable, may have lost its
// entry.
Status WalSet::CheckEntriesLocked(FileNumber last) const {
  for (const Log& log : logs_) {
    const FileNumber number = log.sink->log_number();
    if (number > newest_durable_entry_ && number <= last) RETURN_IF_ERROR(log.sink->CheckEntry());
  }
  return Status::OK();
}

Status WalSet::SyncAll() {
  assert(!InEpoch());
  const std::shared_ptr<WalSink> log = current();
  const uint64_t end = log->size();
  // Sync() covers only what the kernel has, so the buffer is written first.
  RETURN_IF_ERROR(log->Flush(end));
  return SyncThrough(log, end);
}

Status WalSet::SyncSealed() {
  const FileNumber number = current_number();
  assert(number > 0);
  RETURN_IF_ERROR(SyncOlderThan(number));
  // The current log is left out: it is still written to, and its turn comes with the next sync.
  return SyncDirectoryFor(FileNumber{number.value() - 1});
}

Status WalSet::Flush() {
  std::vector<std::shared_ptr<WalSink>> unflushed;
  {
    MutexLock lock(&mutex_);
    for (const Log& log : logs_) {
      if (log.sink->delivered_size() < log.sink->size()) unflushed.push_back(log.sink);
    }
  }
  for (const auto& log : unflushed) RETURN_IF_ERROR(log->Flush(log->size()));
  return Status::OK();
}

Status WalSet::error() const {
  MutexLock lock(&mutex_);
  for (const Log& log : logs_) RETURN_IF_ERROR(log.sink->error());
  return CheckEntriesLocked(FileNumber::None());
}

// The logs are taken out of the list first, since closing them needs I/O, which must not happen
// under the mutex. All are closed, even if one fails; the first error is returned.
Status WalSet::Close() {
  std::vector<Log> logs;
  {
    MutexLock lock(&mutex_);
    // After this nothing can be logged any more.
    logs = std::exchange(logs_, {});
    active_ = nullptr;
  }
  Status first;
  for (const auto& [log, first_seqno, begin, has_beginning] : logs) {
    Status status = log->Close();
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

std::vector<WalSet::Info> WalSet::ReleaseBelow(FileNumber min_log_number,
                                               std::vector<std::shared_ptr<WalSink>>* released) {
  assert(released != nullptr);
  std::vector<Info> logs;
  // The current log always stays, even if it is not needed yet.
  MutexLock lock(&mutex_);
  while (logs_.size() > 1 && logs_.front().sink->log_number() < min_log_number) {
    const WalSink& sink = *logs_.front().sink;
    logs.push_back({.number = sink.log_number(), .bytes = sink.delivered_size()});
    released->push_back(std::move(logs_.front().sink));
    logs_.erase(logs_.begin());
  }
  const auto keep_recovered = recovered_.lower_bound(min_log_number);
  for (auto it = recovered_.begin(); it != keep_recovered; ++it) {
    logs.push_back({.number = it->first, .bytes = it->second.end_bytes});
  }
  recovered_.erase(recovered_.begin(), keep_recovered);
  for (const Info& log : replaced_) {
    if (log.number < min_log_number) logs.push_back(log);
  }
  std::erase_if(replaced_, [&](const Info& log) { return log.number < min_log_number; });
  if constexpr (kChecksInvariants) StopUnless(CheckOrderLocked());
  return logs;
}

FileNumber WalSet::current_number() const {
  MutexLock lock(&mutex_);
  return logs_.empty() ? FileNumber{} : logs_.back().sink->log_number();
}

bool WalSet::current_has_records() const {
  MutexLock lock(&mutex_);
  return !logs_.empty() && logs_.back().sink->size() > logs_.back().begin;
}

// A log is in exactly one of the three lists: found at the opening, replaced by a newer one, or
// still open.
uint64_t WalSet::BytesFrom(FileNumber number) const {
  MutexLock lock(&mutex_);
  uint64_t bytes = 0;
  for (auto it = recovered_.lower_bound(number); it != recovered_.end(); ++it) {
    bytes += it->second.end_bytes;
  }
  for (const Info& log : replaced_) {
    if (log.number >= number) bytes += log.bytes;
  }
  for (const Log& log : logs_) {
    if (log.sink->log_number() >= number) bytes += log.sink->size();
  }
  return bytes;
}

// Older logs are delivered completely, so only the current one may be cut.
std::vector<WalSet::Info> WalSet::List() const {
  MutexLock lock(&mutex_);
  std::vector<Info> list;
  for (const auto& [number, log] : recovered_) {
    list.push_back({.number = number, .bytes = log.end_bytes});
  }
  list.insert(list.end(), replaced_.begin(), replaced_.end());
  for (const Log& log : logs_) {
    list.push_back({.number = log.sink->log_number(), .bytes = log.sink->delivered_size()});
  }
  return list;
}

std::optional<uint64_t> WalSet::EndOfFailed(FileNumber number) const {
  MutexLock lock(&mutex_);
  const auto found = failed_ends_.find(number);
  return found == failed_ends_.end() ? std::nullopt : std::optional<uint64_t>(found->second);
}

std::string WalSet::DebugString() const {
  std::string text;
  MutexLock lock(&mutex_);
  for (const auto& [number, log] : recovered_) {
    StrAppend(&text, "log ", number, ": recovered, ", log.end_bytes, " bytes\n");
  }
  for (const Info& log : replaced_) {
    StrAppend(&text, "log ", log.number,
              log.has_failed ? ": failed and replaced, " : ": replaced, ", log.bytes, " bytes\n");
  }
  for (const Log& log : logs_) {
    const WalSink& sink = *log.sink;
    const bool has_entry = sink.log_number() <= newest_durable_entry_;
    StrAppend(&text, "log ", sink.log_number(), ": from @", log.first_seqno, ", ", sink.size(),
              " bytes, ", sink.delivered_size(), " delivered, ", sink.synced_size(),
              has_entry ? " synced" : " synced, entry not", sink.is_mapped() ? ", mapped\n" : "\n");
  }
  return text;
}

}  // namespace ashlar
